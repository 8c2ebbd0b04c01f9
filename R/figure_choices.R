# What the figures of forced choices share: rows in their order, heights, and what their captions say.

# Labelled, ordered rows of one fit: `model_shown`, `test_shown`, `kind_shown` (where there are kinds), and `height`,
# the first model on top. `within`: the column whose values lie next to each other at one model.
cells_to_draw <- function(rows, keys, within, to) {
  rows <- rows_to_draw(
    rows, keys, !is.na(rows$estimate), to, "row with an estimate", keys, "a cell has more than one row",
    "Keep the rows of one fit."
  )
  warn_of_pooling(rows, within = character())
  rows <- with_shown(rows, c("model", "test"))
  if ("kind" %in% names(rows)) {
    rows$kind_shown <- factor(rows$kind, levels = names(kinds_of_effects()), labels = kinds_of_effects())
    rows$kind_shown <- droplevels(rows$kind_shown)
  }
  rows[[within]] <- droplevels(shown_conditions(rows, within))
  rows$height <- heights_of(rows$model_shown, rows[[within]], .19)
  rows
}

# A Greek Delta as mathematics: as text, R's plain PDF device has none.
with_delta <- function(after, before = "") bquote(paste(.(before), Delta, .(after)))

# The two ways to predict: they differ much, so no number goes without the name of its own.
kinds_of_effects <- function() {
  c(
    population = "a median word (random effects of 0)", item_averaged = "averaged over the words asked",
    new_items = "averaged over new words"
  )
}

models_on_y <- function(rows) names_on_y(rev(levels(rows$model_shown)))

panels_of_tests <- function() {
  ggplot2::theme(
    panel.spacing.x = ggplot2::unit(24, "pt"), strip.text = ggplot2::element_text(face = "bold", hjust = 0)
  )
}

between_models <- function(rows) lines_between(levels(rows$model_shown))

# The intervals of a Bayesian fit are credible; those of lme4, which come with standard errors and no verdict, are not.
interval_kind <- function(rows) {
  is_of_lme4 <- any(c("std_error", "p_value") %in% names(rows)) && !any(c("is_converged", "median") %in% names(rows))
  if (is_of_lme4) "Wald's confidence interval" else "credible interval"
}

# Source, and the verdict on a fit that did not converge: its figures say so themselves.
convergence_note <- function(rows) {
  is_doubtful <- if ("is_converged" %in% names(rows)) rows$is_converged %in% FALSE else FALSE
  verdict <- if ("verdict" %in% names(rows)) unique(stats::na.omit(as.character(rows$verdict[is_doubtful])))
  paste(c(source_note(rows), if (any(is_doubtful)) c("This fit did not converge.", verdict)), collapse = " ")
}
