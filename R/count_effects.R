# What a Bayesian model of token counts says of a condition: how many times as many tokens, and how many zeros.

# From the draws: `effects`, one row, with the ratio of medians (second side to the first), and `predictions`, the
# median of each side. Both are for a word and a wording of the middle, whose random effects are 0. `checks`: of
# cell_checks(), with the shares of zeros that are observed and predicted.
count_effects <- function(fit, parts, checks) {
  contrast <- contrast_of(parts)
  draws <- as.matrix(posterior::as_draws_matrix(fit))
  design <- effect_design(parts, contrast, c("model", "test"))
  is_hu <- grepl("^b_hu_", colnames(draws))
  predictors <- population_logits(draws[, !is_hu, drop = FALSE], design)
  medians <- vapply(seq_len(ncol(predictors)), function(cell) {
    parts$family$median(predictors[, cell], parameters_of_cell(draws, parts$family, design$x[cell, ]))
  }, numeric(nrow(draws)))
  medians <- matrix(medians, nrow = nrow(draws))
  cells <- stats::setNames(design$cells, c("model", "test", "condition"))
  predictions <- cbind(cells, kind = "population", spread_rows(medians)[interval_columns()])
  sides <- match(design$sides, cells$condition)
  if (length(sides) != 2 || anyNA(sides) || nrow(cells) != 2) {
    return(list(predictions = as_plain_rows(predictions)))
  }
  list(predictions = as_plain_rows(predictions), effects = ratio_row(medians[, sides], design$sides, parts, checks))
}

# The parameters next to the linear predictor, as the functions of the family take them, one number a draw.
parameters_of_cell <- function(draws, family, x) {
  values <- lapply(stats::setNames(family$parameters, family$parameters), function(name) {
    if (name != "hu") {
      return(draws[, name])
    }
    # brms names the intercept first, then the coefficients, in the order of the design
    stats::plogis(as.vector(draws[, grepl("^b_hu_", colnames(draws)), drop = FALSE] %*% x))
  })
  if (length(values) == 1) values[[1]] else values
}

# The smallest |d| that matters, if nothing else is said: half of what Cohen calls small, as in check_equivalence().
smallest_effect <- .1

ratio_row <- function(medians, sides, parts, checks) {
  ratio <- medians[, 2] / medians[, 1]
  labels <- as.character(parts$data[[contrast_of(parts)]])
  sd_log <- pooled_sd(log(parts$outcome + parts$family$step / 2), labels, sides)
  between <- stats::quantile(ratio, c(.5, .025, .975), names = FALSE, na.rm = TRUE)
  zeros <- checks[checks$statistic == "zeros" & !is.na(checks$condition), ]
  zeros <- zeros[match(sides, zeros$condition), ]
  data.frame(
    term = paste0(contrast_of(parts), sides[[2]]), family = parts$family$name, step = parts$family$step,
    ratio = between[[1]], ratio_low = between[[2]], ratio_high = between[[3]], p_above = mean(ratio > 1, na.rm = TRUE),
    median_reference = stats::median(medians[, 1]), median_other = stats::median(medians[, 2]),
    zeros_reference = zeros$observed[[1]], zeros_reference_predicted = zeros$predicted[[1]],
    zeros_other = zeros$observed[[2]], zeros_other_predicted = zeros$predicted[[2]], sd_log = sd_log,
    bound = smallest_effect, p_within_bound = mean(abs(log(ratio)) < smallest_effect * sd_log, na.rm = TRUE),
    prior = parts$priors$b
  )
}
