#' What a fit returns
#'
#' Every function that fits something returns a list of class `slant_fit`: data frames with the same columns whatever
#' the engine, and the fitted models themselves.
#'
#' `tidy()` and `glance()` are the generics of package generics (or broom), with broom's column names; so modelsummary
#' and others that know broom can print a fit, and gt its data frames. Everywhere else, the columns are those of the
#' data frames. `emmeans::emmeans()` takes a fit of one group, with the errors of its table and no more degrees of
#' freedom than these have. `split()` makes one fit of each group, by name: what modelsummary sets side by side.
#'
#' For what has no method here, such as `anova()`, `ranef()` or `update()`, take a group's model: `fit$models[[1]]`.
#'
#' @param x,object a fit, such as [fit_lme4()] returns.
#' @param n number of rows of the estimates to print at most.
#' @param f,drop not used: the groups are those of the fit.
#' @param conf.int whether `tidy()` gives intervals.
#' @param conf.level,level the probability that intervals are for; from draws where a fit is Bayesian. NA, with a
#'   warning, where an interval of another level can't be had from the fit.
#' @param parm which terms `confint()` gives; all, if it is left out.
#' @param newdata rows to predict; those that were fitted, if it is left out.
#' @param ... for `predict()`, `residuals()` and `fitted()` arguments of the model's own method, such as
#'   `type = "response"`; else not used.
#' @return
#'   \describe{
#'     \item{`print()`}{the fit, after printing how many groups were fitted, why some
#'       failed or warned, its estimates and what else there is.}
#'     \item{`summary()`}{the same with variances, messages and versions; prints all rows.}
#'     \item{`tidy()`}{the data frame `estimates` with broom's names: `term`, `estimate`, `std.error`, `df`,
#'       `statistic`, `p.value`, `conf.low`, `conf.high`, after the columns of the groups.}
#'     \item{`confint()`}{a matrix of these intervals, a row per estimate, named by group and term.}
#'     \item{`glance()`}{the data frame `fits`, one row per group, with broom's names `nobs`, `logLik`, `AIC`, `BIC`,
#'       and of models that have them `sigma`, `deviance`, `df.residual`, `r.squared`, `adj.r.squared`.}
#'     \item{`augment()`}{the rows that each model was fitted to, with `.fitted` and `.resid` (of `lm` and `logistic`
#'       also `.hat`, `.cooksd`, `.std.resid`): `.fitted` on the scale of the outcome, `.resid` the model's own (of
#'       `logistic` deviance residuals); or `newdata` with `.fitted` (of ratings the most probable point).}
#'     \item{`coef()`, `vcov()`}{estimates by group and term, and their covariance: over clusters, or by Kenward and
#'       Roger, where the table's errors are. Groups are independent of each other.}
#'     \item{`logLik()`}{of one group, with its degrees of freedom; of several, a number each.}
#'     \item{`residuals()`, `fitted()`}{of one group a vector, of several a list; of ratings (`clm`), P(lower) -
#'       P(higher) and the probability of the point that was given.}
#'     \item{`predict()`}{of `newdata` what the model's own `predict()` gives, each row by the model of its group.}
#'     \item{`as.data.frame()`}{the data frame `estimates`.}
#'     \item{`autoplot()`}{as `plot()`.}
#'     \item{`nobs()`}{the number of rows that were used, for each group.}
#'     \item{`plot()`}{a ggplot: the figure that the engine has of its own (topics, differences between conditions),
#'       else each effect with its 95 % interval, for every group. `term`: which of the terms (all but intercepts, if it
#'       is left out).}
#'     \item{`split()`}{a list of fits, one per group, by the name of the group.}
#'   }
#' @name slant_fit
#' @examples
#' fit <- effect_size(subset(simulate_trials(), is_valid), by = c("model", "test"))
#' fit
#' nobs(fit)
#' names(split(fit)) # modelsummary::modelsummary(split(fit)) has one column for each
#' if (requireNamespace("generics", quietly = TRUE)) generics::tidy(fit)
NULL

# Tables of an engine, the versions of R and of the packages that took part, and the class.
slant_fit <- function(result, packages = character()) {
  structure(c(result, list(versions = versions_of(packages))), class = "slant_fit")
}

#' @rdname slant_fit
#' @method print slant_fit
#' @export
print.slant_fit <- function(x, n = 20, ...) {
  cat(sprintf("<slant_fit> %s\n", statuses_in_words(x$fits)))
  if (is.data.frame(x$messages)) cat(reasons_in_words(x$messages), sep = "")
  print_table(x$estimates, n)
  how <- grep("cluster", unique(x$fits$optimiser), value = TRUE, fixed = TRUE)
  if (length(how) == 1) cat(strwrap(sprintf("Errors: %s", how), exdent = 2), sep = "\n")
  listed <- c(setdiff(names(x), "tables"), if (length(x$tables) > 0) paste0("tables$", names(x$tables)))
  n_messages <- if (is.null(x$messages)) 0L else nrow(x$messages)
  note <- if (n_messages > 0) sprintf("; %s in $messages", counted(n_messages, "message")) else ""
  cat(strwrap(sprintf("Parts: %s%s", toString(paste0("$", listed)), note), exdent = 2), sep = "\n")
  invisible(x)
}

#' @rdname slant_fit
#' @method summary slant_fit
#' @export
summary.slant_fit <- function(object, ...) structure(object, class = "summary.slant_fit")

#' @method print summary.slant_fit
#' @export
print.summary.slant_fit <- function(x, ...) {
  cat(sprintf("<slant_fit> %s\n", statuses_in_words(x$fits)))
  for (table in c("estimates", "fits", "variances", "messages", "versions")) {
    if (isTRUE(nrow(x[[table]]) > 0)) {
      cat(sprintf("\n%s\n", table))
      print_table(x[[table]], Inf)
    }
  }
  invisible(x)
}

#' @rdname slant_fit
#' @method tidy slant_fit
#' @rawNamespace S3method(generics::tidy,slant_fit)
tidy.slant_fit <- function(x, conf.int = TRUE, conf.level = .95, ...) { # nolint: object_name_linter.
  estimates <- tidied_intervals(x, conf.level)
  if (!isTRUE(conf.int)) estimates <- estimates[setdiff(names(estimates), c("conf_low", "conf_high"))]
  broom <- c(std_error = "std.error", p_value = "p.value", conf_low = "conf.low", conf_high = "conf.high")
  with_names(estimates, broom)
}

#' @rdname slant_fit
#' @method glance slant_fit
#' @rawNamespace S3method(generics::glance,slant_fit)
glance.slant_fit <- function(x, ...) { # nolint: object_name_linter.
  known <- do.call(rbind, lapply(names(split(x)), function(group) as.data.frame(glance_of_model(x$models[[group]]))))
  known <- known[vapply(known, function(column) any(!is.na(column)), NA)]
  with_names(cbind(x$fits, known), c(n = "nobs", log_lik = "logLik", aic = "AIC", bic = "BIC"))
}

#' @rdname slant_fit
#' @method nobs slant_fit
#' @rawNamespace S3method(stats::nobs,slant_fit)
nobs.slant_fit <- function(object, ...) object$fits$n # nolint: object_name_linter.

#' @rdname slant_fit
#' @method confint slant_fit
#' @rawNamespace S3method(stats::confint,slant_fit)
confint.slant_fit <- function(object, parm, level = .95, ...) { # nolint: object_name_linter.
  estimates <- tidied_intervals(object, level)
  if (!missing(parm)) estimates <- estimates[estimates$term %in% parm, , drop = FALSE]
  names <- estimate_names(object, estimates)
  percent <- sprintf("%g %%", 100 * c((1 - level) / 2, (1 + level) / 2))
  matrix(c(estimates$conf_low, estimates$conf_high), ncol = 2, dimnames = list(names, percent))
}

# By group and term.
estimate_names <- function(x, estimates = x$estimates) {
  in_words_by(estimates, c(group_columns(x), "term"))
}

#' @rdname slant_fit
#' @method split slant_fit
#' @export
split.slant_fit <- function(x, f, drop = FALSE, ...) { # nolint: object_name_linter.
  by <- group_columns(x)
  groups <- in_words_by(x$fits, by)
  parts <- lapply(seq_len(nrow(x$fits)), function(i) one_group(x, i, by, groups[[i]]))
  stats::setNames(parts, groups)
}

# The columns that tell the groups of a fit apart: those before its first term that its fits have, too.
group_columns <- function(x) {
  before <- names(x$estimates)[seq_len(match("term", names(x$estimates), nomatch = 1L) - 1L)]
  intersect(before, names(x$fits))
}

one_group <- function(x, i, by, group) {
  own <- function(table) {
    if (!is.data.frame(table) || !all(by %in% names(table)) || length(by) == 0) {
      return(table)
    }
    is_own <- Reduce(`&`, lapply(by, function(name) as.character(table[[name]]) == as.character(x$fits[[name]][[i]])))
    as_plain_rows(table[which(is_own), , drop = FALSE])
  }
  part <- lapply(unclass(x), own)
  if (!is.null(x$models) && group %in% names(x$models)) {
    part$models <- structure(x$models[group], covariances = attr(x$models, "covariances")[group])
  }
  structure(part, class = "slant_fit")
}

with_names <- function(table, renamed) {
  is_other <- names(table) %in% names(renamed)
  names(table)[is_other] <- renamed[names(table)[is_other]]
  table
}

# "8 groups: 7 ok, 1 singular"
statuses_in_words <- function(fits) {
  counts <- table(factor(fits$status, levels = unique(fits$status)))
  sprintf("%s: %s", counted(nrow(fits), "group"), paste(counts, names(counts), collapse = ", "))
}

# Why groups failed and what fits warned of, a line each, for nobody looks where the status alone is shown.
reasons_in_words <- function(messages, most = 5) {
  reasons <- messages[messages$kind %in% c("error", "warning"), , drop = FALSE]
  if (nrow(reasons) == 0) {
    return(NULL)
  }
  texts <- paste0(reasons$kind, ": ", gsub("[[:space:]]+", " ", reasons$text))
  counts <- table(factor(texts, levels = unique(texts)))
  lines <- paste0("  ", names(counts), ifelse(counts > 1, sprintf(" (%d times)", counts), ""))
  n_more <- length(counts) - most
  lines <- c(utils::head(lines, most), if (n_more > 0) sprintf("  ... and %d more in $messages", n_more))
  paste0(strwrap(lines, indent = 2, exdent = 4), "\n")
}

# Without what is empty in all rows, and without labels, numbers and source, which stand behind the numbers.
print_table <- function(table, n) {
  if (nrow(table) == 0) {
    return(invisible())
  }
  last <- match("conf_high", names(table), nomatch = ncol(table))
  table <- table[seq_len(last)]
  is_empty <- vapply(table, function(column) all(is.na(column) | column == ""), NA)
  print(utils::head(table[!is_empty], n), digits = 4, row.names = FALSE)
  if (nrow(table) > n) cat(sprintf("... and %s\n", counted(nrow(table) - n, "more row")))
}

# The estimates of a fit with intervals of another level than the 95 % of its tables.

tidied_intervals <- function(x, level) {
  if (!argument_kinds$between(0, .95)$is_right(level)) {
    stop_with(sprintf("`conf.level` must be one number between 0 and 1, not %s.", deparse1(level)))
  }
  estimates <- x$estimates
  if (level == .95 || !all(c("conf_low", "conf_high") %in% names(estimates))) {
    return(estimates)
  }
  intervals <- rescaled_intervals(estimates, level)
  groups <- groups_of_estimates(x) # the rows of a Bayesian fit are those of its draws, in their order
  for (group in names(x$models)) {
    rows <- which(groups == group)
    if (!inherits(x$models[[group]], "brmsfit")) next
    draws <- estimate_draws(unclass(posterior::as_draws_matrix(x$models[[group]])))
    ends <- apply(draws, 2, stats::quantile, c((1 - level) / 2, (1 + level) / 2), names = FALSE)
    is_same <- isTRUE(all.equal(spread_rows(draws)$estimate, estimates$estimate[rows]))
    intervals$low[rows] <- if (is_same) ends[1, ] else NA_real_
    intervals$high[rows] <- if (is_same) ends[2, ] else NA_real_
  }
  is_lost <- is.finite(estimates$conf_low) & is.finite(estimates$conf_high) & !is.finite(intervals$low)
  if (any(is_lost)) {
    warning(sprintf(
      "%s of %s: intervals are NA, for they can't be had at %g %% from those at 95 %%.",
      counted(sum(is_lost), "estimate"), format(nrow(estimates)), 100 * level
    ), call. = FALSE)
  }
  estimates$conf_low <- intervals$low
  estimates$conf_high <- intervals$high
  estimates
}

# Scales on which intervals may be symmetric: of differences, ratios, correlations and shares. `slope`: of the way back.
interval_scales <- list(
  list(to = identity, from = identity, slope = function(x) 1),
  list(to = log, from = exp, slope = identity),
  list(to = atanh, from = tanh, slope = function(x) 1 - x^2),
  list(to = stats::qlogis, from = stats::plogis, slope = function(x) x * (1 - x))
)

# Intervals of a normal or a t distribution, on whichever scale they are symmetric; NA where they are of neither.
rescaled_intervals <- function(estimates, level) {
  df <- if (is.null(estimates$df)) rep(NA_real_, nrow(estimates)) else estimates$df
  error <- if (is.null(estimates$std_error)) rep(NA_real_, nrow(estimates)) else estimates$std_error
  low <- high <- rep(NA_real_, nrow(estimates))
  for (scale in interval_scales) {
    ends <- suppressWarnings(lapply(estimates[c("estimate", "conf_low", "conf_high")], scale$to))
    half <- (ends$conf_high - ends$conf_low) / 2
    is_symmetric <- abs((ends$conf_high + ends$conf_low) / 2 - ends$estimate) <= 1e-7 * (half + abs(ends$estimate))
    if (identical(scale$to, log)) { # before the others: about a half, Wilson's look symmetric on any scale
      shares <- wilson_intervals(estimates, df, level)
      is_share <- is.na(low) & !is.na(shares$low)
      low[is_share] <- shares$low[is_share]
      high[is_share] <- shares$high[is_share]
    }
    # an error is on this scale or on that of the estimate; an interval of another width is of several at once
    errors <- list(error, error / scale$slope(estimates$estimate))
    is_normal <- is_any(lapply(errors, function(of) is_near(half / of, stats::qnorm(.975))))
    is_of_t <- is_any(lapply(errors, function(of) is_near(half / of, suppressWarnings(stats::qt(.975, df)))))
    is_symmetric <- is_symmetric & (is.na(error) | is_normal | is_of_t)
    is_now <- is.na(low) & is.finite(half) & is_symmetric %in% TRUE
    is_t <- is.finite(df) & !is_normal
    ratio <- ifelse(
      is_t, suppressWarnings(stats::qt((1 + level) / 2, df) / stats::qt(.975, df)),
      stats::qnorm((1 + level) / 2) / stats::qnorm(.975)
    )
    low[is_now] <- scale$from(ends$estimate - ratio * half)[is_now]
    high[is_now] <- scale$from(ends$estimate + ratio * half)[is_now]
  }
  list(low = low, high = high)
}

# Wilson's intervals, whose ends give away the number of answers behind them; NA where they are none of his.
wilson_intervals <- function(estimates, df, level) {
  share <- estimates$estimate
  half <- (estimates$conf_high - estimates$conf_low) / 2
  quantile <- function(p) ifelse(is.finite(df), suppressWarnings(stats::qt(p, df)), stats::qnorm(p))
  was <- quantile(.975)
  spread <- share * (1 - share)
  root <- suppressWarnings(sqrt(spread^2 + half^2 * (1 - 4 * spread)))
  n <- was^2 * ((spread + root) / (2 * half^2) - 1) # from the width, solved for n
  is_share <- is.finite(n) & n > 0 & share >= 0 & share <= 1
  again <- suppressWarnings(wilson_of_rates(share, n, was))
  is_share <- is_share & abs(again$low - estimates$conf_low) < 1e-7 & abs(again$high - estimates$conf_high) < 1e-7
  found <- suppressWarnings(wilson_of_rates(share, n, quantile((1 + level) / 2)))
  found[!(is_share %in% TRUE), ] <- NA_real_
  found
}

is_near <- function(one, other) abs(one - other) <= 1e-5 * abs(other)

is_any <- function(conditions) Reduce(`|`, lapply(conditions, `%in%`, TRUE))
