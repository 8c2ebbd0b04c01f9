#' Linear models without random effects, one per group of rows
#'
#' R's own [stats::lm()] with t, its intervals and F tests: of an outcome by any number of groups that are described,
#' where no word, wording or person is asked about twice. It takes rows as independent, unless `cluster` names what they
#' share (one column or two), or the rows of a factorial study ([open_trials()]) tell it. Standard errors are then over
#' clusters, and the table `clustered` has R's own beside them (`std_error_rows`); with random effects, [fit_lme4()].
#'
#' @inheritParams fit_logistic
#' @param formula the formula as text, such as `"value ~ condition"`. A column of text is a factor with the levels that
#'   `levels` lists, or sorted as in the C locale (a message says which is the reference). Rows in which a column of it
#'   is missing are left out and counted (`n_missing`).
#' @return The same list of data frames as [fit_lme4()]. `estimates` has one row per coefficient, in units of the
#'   outcome, with t and its 95 % interval; `variances` the residual variance (squared units). `tables` holds `tests`:
#'   the row `"all"` is against the model without predictors (as R's `anova()` of a model with one factor, or the last
#'   line of `summary()`), and where there are several terms each has a row, against the model without it: `f_value`,
#'   `df`, `df_residual`, `p_value` and `eta_squared` (partial; of "all" it is R squared). With `cluster` also
#'   `clustered`, as of [fit_logistic()].
#' @export
#' @examples
#' trials <- subset(simulate_trials(), is_valid)
#' fit <- fit_lm(trials, "tokens ~ condition", by = "model", cluster = "item")
#' fit
#' vcov(split(fit)[[1]])
fit_lm <- function(data, formula, by = NULL, levels = NULL, cluster = NULL, save_to = NULL,
                   declared = list(), weights = NULL) {
  check_arguments()
  fit_fixed_effects(data, formula, by, levels, cluster, save_to, linear_model, declared, weights)
}

linear_model <- list(
  name = "a linear model", example = "value ~ condition", mixed = "lme4",
  prepared = function(rows, formula) {
    check_varies_within(rows, formula)
    rows
  },
  model = function(formula, rows, weights = NULL) eval(weighted_call(quote(stats::lm), formula, weights)),
  effects = function(model) {
    table <- stats::coef(summary(model))
    error <- frame_of(std_error = unname(table[, "Std. Error"]), df = rep(as.double(model$df.residual), nrow(table)))
    coefficient_rows(stats::coef(model), error)
  },
  tests = function(model) {
    f <- summary(model)$fstatistic # none without predictors
    all <- f_tests("all", c(f["value"], NA)[[1]], c(f["numdf"], NA)[[1]], model)
    rbind(all[!is.null(f), ], against_each_term(model, function(term, without) {
      f_tests(term, without$`F value`, without$Df, model)
    }, test = "F"))
  },
  variances = function(model) {
    frame_of(group = "residual", term = "residual", variance = stats::sigma(model)^2, n_groups = NA_integer_)
  },
  changes = function(model) least_squares_changes(model), small_sample = function(model, n_clusters) hc1(model),
  clustered_as = "HC1", has_cr2 = TRUE, optimiser = "stats::lm, t"
)

f_tests <- function(term, f_value, df, model) {
  df_residual <- rep(as.double(model$df.residual), length(term))
  frame_of(
    term = term, f_value = f_value, df = as.double(df), df_residual = df_residual,
    p_value = stats::pf(f_value, df, df_residual, lower.tail = FALSE),
    eta_squared = f_value * df / (f_value * df + df_residual)
  )
}
