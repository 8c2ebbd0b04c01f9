#' Effect sizes with their intervals, by test and model
#'
#' The main figure (Figure 2) of the RM-IAT paper: Cohen's d with its 95 % interval for each test and model. Models
#' differ in colour and in shape.
#'
#' @param data what [effect_size()] returned, or a data frame with one row per model and test: `estimate`,
#'   `conf_low`, `conf_high`, and `model` and `test` (without these: all of them together). Used if present:
#'   `model_label` and `test_label` to show, `model_no` and `test_no` to order by (else the order of rows),
#'   `reference` and `compared` (what the two conditions are called), `outcome` (the column that was measured, as in
#'   `"tokens"` or `"rating"`), `source`, `token_source` (what the tokens are) and `interval` (`"mixed_model"` where
#'   intervals are of one) for the caption. [effect_size()] of rows that have labels gives most of these.
#' @param file a path that ends in `.svg`, `.png` or `.pdf` to write the figure to; `NULL` gives the plot.
#' @param width,height in inches; `NULL` is the figure's own. The words wrap to a `width` that is given, panels that
#'   it has no room for stand below each other, and the height follows.
#' @param ... what all figures take: `title` and `subtitle`, words that replace the figure's own; `order`, names that it
#'   shows (levels, tests, models), which then come first, or `"value"`: the largest value on top; `highlight`, names of
#'   which all others are pale; `dpi`, dots per inch of a PNG (200).
#' @return A ggplot, to which layers can be added, with the attribute `alt_text`; with `file`, invisibly a list of
#'   `path` and `alt_text`.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' estimates <- data.frame(
#'   model = rep(c("o3-mini", "deepseek-r1"), each = 2),
#'   test = rep(c("flowers_insects", "age_valence"), 2),
#'   estimate = c(1.04, .61, .72, .28), conf_low = c(.95, .45, .63, .12),
#'   conf_high = c(1.14, .77, .81, .44),
#'   source = "imported"
#' )
#' plot_effect_sizes(estimates)
#' trials <- subset(simulate_trials(n_wordings = 2), is_valid)
#' plot_effect_sizes(effect_size(trials, by = c("model", "test")), width = 3.5)
plot_effect_sizes <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("effect_sizes", data, file, width, height, ...)
  rows <- by_test(with_intervals(with_outcome(rows, data)))
  more <- more_of(rows)
  is_above <- rows$low > 0
  is_below <- rows$high < 0
  finish_figure(
    forest_by_test(rows, one_legend(nrow = legend_rows(levels(rows$model_shown), given_or(width, 9), 5))), alt_text(
      sprintf("Cohen's d with 95 %% intervals for %s", counted_shown(rows, c("test", "model"))),
      notes = c(
        sprintf(
          "Of %s, %d lie above 0 (%s in the %s condition), %d below 0, and %d with intervals that include 0.",
          counted(nrow(rows), "effect"), sum(is_above), more_of(rows), one_text(rows, "compared", "second"),
          sum(is_below), sum(!is_above & !is_below)
        ),
        sprintf("The largest is %.2f, the smallest %.2f.", max(rows$at), min(rows$at))
      )
    ), inches_by_test(rows),
    notes = c(measure_note(rows), interval_note(rows)), title = effects_title(rows),
    subtitle = sprintf(
      "Right of 0: %s in the %s condition; left: %s in the %s one.", more,
      one_text(rows, "compared", "second"), sub(" .*", "", more), one_text(rows, "reference", "first")
    )
  )
}

# An effect size knows what its outcome was: its pooled variance is of it.
with_outcome <- function(rows, fit) {
  if (is.data.frame(rows) && !"outcome" %in% names(rows) && is.list(fit) && is.data.frame(fit$variances)) {
    outcome <- unique(as.character(fit$variances$term[fit$variances$group %in% "pooled"]))
    if (length(outcome) == 1) rows$outcome <- rep(outcome, nrow(rows))
  }
  rows
}

effects_title <- function(rows) {
  outcome <- outcome_of(rows)
  compared <- one_text(rows, "compared", "second")
  if (is.null(outcome)) {
    return("How far do the two conditions differ?")
  }
  if (outcome == "tokens") {
    return(sprintf("Do models use more tokens in the %s condition?", compared))
  }
  sprintf("Is the %s higher in the %s condition?", outcome, compared)
}

more_of <- function(rows) {
  outcome <- outcome_of(rows)
  if (is.null(outcome)) "higher values" else if (outcome == "tokens") "more tokens" else paste("higher", outcome)
}

# Where intervals are not those of independent trials, which are the narrower ones.
interval_note <- function(rows) {
  if (!"interval" %in% names(rows)) {
    return(NULL)
  }
  of_model <- rows$interval %in% "mixed_model"
  if (any(of_model)) {
    paste0(
      "Effects and intervals are those of the mixed model over words and wordings, in standard deviations of trials.",
      if (!all(of_model)) {
        sprintf(
          " Of %s it could not be fitted: there trials are taken for independent.", counted(sum(!of_model), "cell")
        )
      }
    )
  }
}

#' Effects of all cells, and what they come to together
#'
#' A forest plot: the effect of each test and model with its interval, and below them the mean with its interval, and
#' the prediction intervals of a new test, a new model and a new test of a new model.
#'
#' @param data what [meta_analysis()] returned, of one source, study version and variant. Used if present:
#'   `model_label` and `test_label` to show, `model_no` and `test_no` to order by (else the order of rows),
#'   `is_sign_kept_by_missing` (cells whose sign missing answers could have made are crossed out).
#' @inherit plot_effect_sizes params return
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE) && requireNamespace("metafor", quietly = TRUE)
#' trials <- subset(simulate_trials(), is_valid)
#' effects <- fit_crossed(trials, levels = c("compatible", "incompatible"), by = c("model", "test"))
#' plot_forest(meta_analysis(effects$tables$effects))
plot_forest <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  data <- begin_figure("forest", data, file, width, height, ...)
  of_cells <- with_tests_on_y(rows_to_draw("forest", data, data$row %in% "cell" & !is.na(data$estimate)))
  pooled <- data[data$row %in% names(together), , drop = FALSE]
  names <- c(levels(of_cells$test_shown), unname(together[unique(pooled$row)]))
  models <- c(levels(of_cells$model_shown), "All models")
  part <- function(rows, name, model) {
    data.frame(
      name = factor(name, names), model_shown = factor(model, models), at = rows$estimate, low = rows$conf_low,
      high = rows$conf_high, row = rows$row,
      is_made = if (is.null(rows$is_sign_kept_by_missing)) FALSE else rows$is_sign_kept_by_missing %in% FALSE
    )
  }
  rows <- rbind(
    part(of_cells, as.character(of_cells$test_shown), as.character(of_cells$model_shown)),
    part(pooled, together[pooled$row], rep("All models", nrow(pooled)))
  )
  series <- factor(rows$model_shown, setdiff(models, "All models"))
  series[is.na(series)] <- models[[1]]
  rows$height <- heights_of(rows$name, series)
  is_pooled <- rows$row != "cell"
  rows$height[is_pooled] <- heights_of(rows$name)[is_pooled]
  wholes <- rows[is_pooled, ]
  cells <- rows[!is_pooled, ]
  finish_figure(
    dots_figure(
      rows, "model_shown", rev(levels(rows$name)), crossed_out(rows),
      one_legend(nrow = legend_rows(levels(rows$model_shown), given_or(width, 9), 5))
    ),
    alt_text(
      sprintf("Forest plot of %s of tests and models", counted(nrow(cells), "effect")), "Together",
      sprintf("%s %.2f (%.2f to %.2f)", wholes$name, wholes$at, wholes$low, wholes$high),
      notes = c(
        sprintf("Single effects lie between %.2f and %.2f.", min(cells$at), max(cells$at)),
        if (any(cells$is_made)) sprintf("Missing answers could have made the sign of %d of them.", sum(cells$is_made))
      )
    ), 2.2 + .13 * max(nlevels(rows$name) * (nlevels(rows$model_shown) + 1), 8),
    source = source_note(data[data$row %in% "cell", , drop = FALSE]), said = NULL, notes = c(
      "Intervals of tests are of each effect; those of what is new are prediction intervals.",
      if (any(rows$is_made)) "Crossed out: refused and other missing answers could have made the sign."
    )
  )
}

together <- c(
  mean = "Mean", new_test = "A new test", new_model = "A new model", new_cell = "A new test of a new model"
)

# Effects whose sign missing answers could have made.
crossed_out <- function(rows) {
  made <- rows[rows$is_made, , drop = FALSE]
  if (nrow(made) > 0) ggplot2::geom_point(ggplot2::aes(x = .data$at), made, shape = 4, size = 3.2, colour = "grey15")
}

# Effects of many studies by model, oldest first: rows of meta_analysis() with `released`, `maker` and what tells
# studies and effects apart. Partially pooled effects are drawn, with the single ones pale behind them; else these.
plot_atlas <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("atlas", data, file, width, height, ...)
  rows <- rows[rows$row %in% c("cell", "of_model"), , drop = FALSE]
  rows <- farthest_panels(rows, atlas_parts, abs(rows$estimate) / (rows$conf_high - rows$estimate))
  released <- if (is.null(rows$released)) NA else as.Date(as.character(rows$released))
  rows$model_label <- paste0(rows$model, ifelse(is.na(released), "", format(released, " (%b %Y)")))
  rows$model_no <- rank(released, na.last = TRUE, ties.method = "min")
  rows <- with_shown(with_intervals(rows), "model")
  maker <- as.character(given_or(rows$maker, "model"))
  rows$maker_shown <- factor(ifelse(is.na(maker), "unknown", maker))
  rows$height <- heights_of(rows$model_shown)
  is_pooled <- rows$row == "of_model"
  has_pooled <- rows$panel %in% rows$panel[is_pooled]
  drawn <- rows[is_pooled | !has_pooled, , drop = FALSE]
  single <- rows[!is_pooled & has_pooled, , drop = FALSE]
  n_columns <- columns_within(width, min(nlevels(rows$panel), 3), each_in = 2.3, margin_in = 1.8)
  said <- apart_in_words(drawn, "effect", 0)
  finish_figure(
    dots_figure(
      drawn, "maker_shown", rev(levels(rows$model_shown)), one_legend(nrow = 1 + nlevels(rows$maker_shown) %/% 6),
      ggplot2::theme(panel.spacing.x = ggplot2::unit(18, "pt")),
      panel = "panel", n_columns = n_columns, scales = "free_x", behind = list(
        lines_between(levels(rows$model_shown)),
        if (nrow(single) > 0) ggplot2::geom_point(ggplot2::aes(x = .data$at), single, colour = "grey65", size = .9)
      )
    ),
    alt_text(sprintf("Effects of %s by date of release", counted_shown(rows, "model"))),
    1.9 + ceiling(nlevels(rows$panel) / n_columns) * (.7 + .2 * nlevels(rows$model_shown)), 2.5 + 2.4 * n_columns,
    source = c(farthest_note(rows), said, source_note(rows))
  )
}

atlas_parts <- c("study", "variant", "measure", "term")

# Which family of token counts predicts best? Leave-one-out of the Bayesian models of token counts: how much better or
# worse each family predicts a count that is left out than the lognormal does, by model and test. Differences are a
# trial's, so that tests of any size compare; intervals are two standard errors to either side. Rows as of the view
# bayes_ratios; `n_bad_pareto_k`, if it is there: counts for which leave-one-out is unreliable.
plot_family_differences <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("family_differences", data, file, width, height, ...)
  is_other <- !is.na(rows$elpd_difference) & rows$family != "lognormal"
  rows <- with_tests_on_y(rows_to_draw("family_differences", rows, is_other))
  rows$family_shown <- factor(gsub("_", " ", rows$family), unique(gsub("_", " ", rows$family)))
  rows$height <- heights_of(rows$test_shown, rows$family_shown)
  half_width <- 2 * rows$se_difference / rows$n
  mean <- rows$elpd_difference / rows$n
  rows <- with_intervals(rows, mean, mean - half_width, mean + half_width)
  n_columns <- columns_within(width, 2, each_in = 4)
  n_lines <- ceiling(nlevels(rows$model_shown) / n_columns)
  of_families <- split(rows, rows$family_shown)
  said <- vapply(of_families, function(part) {
    sprintf(
      "%s %.3f (%.3f to %.3f; better in %d, worse in %d of %d)", part$family_shown[[1]], stats::median(part$at),
      min(part$at), max(part$at), sum(part$low > 0), sum(part$high < 0), nrow(part)
    )
  }, "")
  n <- if ("n_bad_pareto_k" %in% names(rows)) sum(rows$n_bad_pareto_k, na.rm = TRUE) else 0
  finish_figure(
    dots_figure(
      rows, "family_shown", rev(levels(rows$test_shown)), one_legend(nrow = 1),
      ggplot2::theme(panel.spacing.x = ggplot2::unit(24, "pt")), # or the numbers of neighbours touch
      panel = "model_shown", n_columns = n_columns
    ),
    alt_text(
      sprintf("Families of token counts next to the lognormal for %s", counted_shown(rows, c("test", "model"))),
      "Difference in log probability a trial, in the middle (all; by more than two standard errors)", unname(said)
    ),
    2 + n_lines * (.4 + .13 * max(nlevels(rows$test_shown) * (nlevels(rows$family_shown) + 1), 6)),
    source = c(
      if (n > 0) sprintf("Leave-one-out is unreliable for %s (Pareto's k above 0.7).", counted(n, "count")),
      source_note(rows)
    )
  )
}
