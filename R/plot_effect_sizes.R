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
#'   model = rep(c("o3-mini", "deepseek-r1"), each = 2), test = rep(c("flowers_insects", "age_valence"), 2),
#'   estimate = c(1.04, .61, .72, .28), conf_low = c(.95, .45, .63, .12), conf_high = c(1.14, .77, .81, .44),
#'   source = "imported"
#' )
#' plot_effect_sizes(estimates)
#' trials <- subset(simulate_trials(n_wordings = 2), is_valid)
#' plot_effect_sizes(effect_size(trials, by = c("model", "test")), width = 3.5)
plot_effect_sizes <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- with_outcome(figure_rows(data, "estimates"), data)
  rows <- effects_to_draw(with_cells(rows, c("model", "test")))
  more <- more_of(rows)
  models <- levels(rows$model_shown)
  legend_rows <- ceiling(length(models) / min(5, legend_columns(models, inches_or(width, 9), letters_per_in = 13)))
  finish_figure(
    forest_by_test(rows, one_legend(nrow = legend_rows)), file, effects_in_words(rows),
    width, height, 9, inches_by_test(rows),
    title = given_title(rows, effects_title(rows)),
    subtitle = sprintf(
      "Right of 0: %s in the %s condition; left: %s in the %s one.", more,
      one_text(rows, "compared", "second"), sub(" .*", "", more), one_text(rows, "reference", "first")
    ),
    caption = c(source_note(rows), measure_note(rows), interval_note(rows)), x = "Cohen's d with 95 % interval"
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

effects_to_draw <- function(estimates) {
  with_intervals(rows_by_test(
    estimates, c("estimate", "conf_low", "conf_high"), "effect sizes", "row with an estimate",
    ", with refusals either removed or kept"
  ))
}

effects_in_words <- function(rows) {
  is_above <- rows$low > 0
  is_below <- rows$high < 0
  alt_text(
    sprintf("Cohen's d with 95 %% intervals for %s", counted_shown(rows, c("test", "model"))),
    notes = c(
      sprintf(
        "Of %s, %d lie above 0 (%s in the %s condition), %d below 0, and %d with intervals that include 0.",
        counted(nrow(rows), "effect"), sum(is_above), more_of(rows), one_text(rows, "compared", "second"),
        sum(is_below), sum(!is_above & !is_below)
      ),
      sprintf("The largest is %.2f, the smallest %.2f.", max(rows$at), min(rows$at)),
      source_note(rows), measure_note(rows), interval_note(rows)
    )
  )
}
