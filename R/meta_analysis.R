#' One number over tests and models: a random-effects meta-analysis
#'
#' Pools the effects of single cells (a model and test each) by `metafor::rma.mv()`: REML, each effect weighted by its
#' standard error, with crossed random effects of test and model and a residual one of the cell. Intervals and the test
#' of the mean are by t with the degrees of freedom that metafor calls `"contain"`: those of the random effect that has
#' the fewest levels, so that few models give a wide interval.
#'
#' A prediction interval holds the true effect that is to be expected elsewhere: of a new test (the mean over
#' models), of a new model (the mean over tests), or of a new test asked of a new model (what `predict()` of metafor
#' gives). It has the variance of the mean and those of what is new.
#'
#' With one model only, or one test, the cells are the tests, or the models: there is one random effect then. A
#' standard deviation of 0 lies on the boundary; a message says so. Cells are taken for independent given the random
#' effects, which words that several models were asked about are not quite.
#'
#' Models may be nested in generations, and these in makers. Each model's mean over tests is partially pooled then
#' (`"of_model"`): the best linear prediction of the mixed model, with a prediction interval. With dates of release
#' there is a `"trend"`: the change of the effect per year among the models of one maker, by a fit in which makers have
#' trends of their own. Its degrees of freedom are the number of makers with models of several dates, less 1; under
#' five such makers it has no interval.
#'
#' @param data a data frame with one row per cell: `model`, `test`, and the columns that `estimate` and `std_error`
#'   name. What the effects of different models are measured in must be comparable: standard deviations rather than
#'   tokens. Where there: `is_sign_kept_by_missing`, whether missing answers leave the effect its sign whatever they
#'   would have been (as `"check_refusals"` and `"check_missing_bounds"` of [run_check()] say it); `maker` and
#'   `generation` of the model, and `released`, when it came out (in years, 2025.5, or a date).
#' @param by names of the columns that define what is pooled apart: study version and variant, say.
#' @param estimate,std_error names of the columns with the effects and their standard errors (above 0, same unit).
#' @param alpha 1 minus the level of the intervals.
#' @return A data frame: the columns `by`, then `row`, `model`, `test`, `estimate`, `std_error`, `df`, `p_value`,
#'   `conf_low`, `conf_high` (units of the effects), `n` (levels, or cells), `status`, `messages`. `row` is `"cell"` (an
#'   effect as given, with its normal interval), `"mean"`, `"new_test"`, `"new_model"`, `"new_cell"` (the mean with a
#'   prediction interval; `std_error` is that of the prediction), or `"tau_test"`, `"tau_model"`, `"tau_cell"` (the
#'   standard deviation of true effects between tests, between models, and of what is left); with makers, generations or
#'   dates also `"of_model"`, `"trend"`, `"tau_maker"`, `"tau_generation"` and `"tau_trend"`. After them, the labels of
#'   models and tests and the `source`, where the data have them, and `is_sign_kept_by_missing` of the cells.
#' @source Viechtbauer (2010), Conducting meta-analyses in R with the metafor package, Journal of Statistical Software
#'   36(3); IntHout, Ioannidis, Rovers & Goeman (2016), Plea for routinely presenting prediction intervals in
#'   meta-analysis, BMJ Open 6, e010247.
#' @seealso [plot_forest()]
#' @export
#' @examplesIf requireNamespace("metafor", quietly = TRUE)
#' trials <- subset(simulate_trials(), is_valid)
#' effects <- fit_crossed(trials, levels = c("compatible", "incompatible"), by = c("model", "test"))
#' meta_analysis(effects$tables$effects)
meta_analysis <- function(data, by = NULL, estimate = "estimate", std_error = "std_error", alpha = .05) {
  check_arguments()
  need_package("metafor", "pool effects")
  columns <- c("model", "test", estimate, std_error)
  empty <- columns_of("row:text model:text test:text estimate std_error df p_value conf_low conf_high n:whole")
  has_signs <- "is_sign_kept_by_missing" %in% names(data)
  if (has_signs) empty$is_sign_kept_by_missing <- logical()
  pooled <- check_each_group(data, by, columns, empty, function(rows) {
    cells <- data.frame(
      model = as.character(rows$model), test = as.character(rows$test), estimate = as.double(rows[[estimate]]),
      std_error = as.double(rows[[std_error]])
    )
    cells[intersect(nests, names(rows))] <- lapply(rows[intersect(nests, names(rows))], as.character)
    released <- rows$released # in years
    if (!is.null(released) && !is.numeric(released)) released <- as.double(as.Date(released)) / 365.25 + 1970
    if (!is.null(released)) cells$released <- as.double(released)
    if (ncol(cells) > 4 && nrow(cells) < 3) { # of an atlas, which shows them
      return(cell_rows(cells, alpha))
    }
    if (anyDuplicated(cells[c("model", "test")]) > 0) {
      stop_with("Can't pool effects: a model has more than one row for a test.", "Name what they differ by in `by`.")
    }
    if (nrow(cells) < 3) {
      stop_with(sprintf(
        "Can't pool effects: effects of at least three cells are needed, and there are %d.", nrow(cells)
      ))
    }
    if (any(!is.finite(cells$estimate)) || any(!is.finite(cells$std_error)) || any(cells$std_error <= 0)) {
      stop_with("Can't pool effects: they must be finite, and their standard errors above 0.")
    }
    found <- pooled_rows(cells, alpha)
    if (has_signs) found$is_sign_kept_by_missing <- as.logical(rows$is_sign_kept_by_missing)[seq_len(nrow(found))]
    found
  })
  # Of one source, its pooled rows, too, which are of no model.
  source <- unique(data[["source"]])
  if (length(source) == 1 && !"source" %in% by) pooled$source <- source
  with_study_labels(pooled, data)
}

# A standard deviation between cells below this share of the usual standard error counts as 0.
on_boundary_below <- 1e-3

# Outer ones first: models are nested in generations, and these in makers.
nests <- c("maker", "generation")

pooled_rows <- function(cells, alpha) {
  cells$cell <- seq_len(nrow(cells))
  known <- intersect(nests, names(cells))
  for (name in known) { # a model whose maker is unknown is alone there
    cells[[name]] <- ifelse(is.na(cells[[name]]), paste("of", cells$model), cells[[name]])
  }
  if ("maker" %in% known && "generation" %in% known) cells$generation <- paste(cells$maker, cells$generation)
  n <- vapply(cells[c("test", known, "model", "cell")], function(values) length(unique(values)), 1L)
  # What has one level varies not at all; what has one for each cell can't be separated from it.
  chain <- setdiff(names(n), c("test", "cell"))
  inner <- n[c(chain[-1], "cell")]
  parts <- c(if (n[["test"]] < n[["cell"]]) "test", chain[n[chain] < inner], "cell")
  if (n[["test"]] == n[["cell"]] || n[["model"]] == n[["cell"]]) {
    parts <- c(setdiff(parts, "cell"), if (n[["test"]] == n[["cell"]]) "test" else "model")
  }
  parts <- parts[n[parts] > 1]
  random <- lapply(parts, function(part) stats::reformulate(sprintf("1 | %s", part)))
  model <- pooled_model(cells, random, alpha)
  variances <- stats::setNames(model$sigma2, parts)
  at_zero <- parts[sqrt(variances) < on_boundary_below * stats::median(cells$std_error)]
  if (length(at_zero) > 0) {
    message(sprintf(
      "The standard deviation between %s is 0: on the boundary.", toString(paste0(at_zero, "s"))
    ))
  }
  is_nested <- length(known) > 0 || !is.null(cells$released)
  trend <- if (!is.null(cells$released)) trend_rows(cells, setdiff(parts, "maker"), alpha)
  tau <- data.frame(row = paste0("tau_", parts), estimate = sqrt(variances), n = as.integer(n[parts]), row.names = NULL)
  stacked(list(
    cell_rows(cells, alpha), if (is_nested) rows_of_models(cells, model, variances, alpha),
    mean_rows(model, variances, nrow(cells), alpha), trend, tau
  ))
}

# On a boundary the usual optimizer may not end; the others are slower.
pooled_model <- function(cells, random, alpha, ...) {
  for (optimizer in c("nlminb", "BFGS", "Nelder-Mead")) {
    model <- tryCatch(
      metafor::rma.mv(
        cells$estimate, cells$std_error^2,
        random = random, data = cells, method = "REML", test = "t", dfs = "contain", level = 100 * (1 - alpha),
        control = list(optimizer = optimizer), ...
      ),
      error = identity
    )
    if (!inherits(model, "error")) {
      return(model)
    }
  }
  stop(model)
}

# Each model's mean over these tests, as the mixed model predicts it; errors are those of a prediction (Henderson 1975).
rows_of_models <- function(cells, model, variances, alpha) {
  parts <- setdiff(names(variances), c("test", if (length(variances) > 1) "cell"))
  models <- unique(cells$model)
  first <- match(models, cells$model)
  of_tests <- if ("test" %in% names(variances)) variances[["test"]] / length(unique(cells$test)) else 0
  shared <- matrix(of_tests, length(models), nrow(cells))
  for (part in parts) shared <- shared + outer(cells[[part]][first], cells[[part]], "==") * variances[[part]]
  weights <- shared %*% solve(model$M)
  mean <- as.vector(model$beta)
  variance <- of_tests + sum(variances[parts]) - rowSums(weights * shared) + (1 - rowSums(weights))^2 * model$se^2
  estimate <- mean + as.vector(weights %*% (cells$estimate - mean))
  std_error <- sqrt(pmax(variance, 0))
  half_width <- stats::qnorm(1 - alpha / 2) * std_error
  data.frame(
    row = "of_model", model = models, estimate = estimate, std_error = std_error, conf_low = estimate - half_width,
    conf_high = estimate + half_width, n = as.integer(table(cells$model)[models])
  )
}

least_makers <- 5

# The change of the effect per year, among models of one maker: each has a level, and a trend, of its own.
trend_rows <- function(cells, parts, alpha) {
  cells <- cells[is.finite(cells$released), , drop = FALSE]
  if (is.null(cells$maker)) cells$maker <- rep("one", nrow(cells))
  cells$years <- cells$released - stats::ave(cells$released, cells$maker, FUN = function(at) mean(range(at)))
  spread <- tapply(cells$years, cells$maker, function(years) diff(range(years)))
  n_makers <- sum(spread > 0)
  if (n_makers == 0) {
    message("No trend: it takes two models of one maker with different dates of release.")
    return(NULL)
  }
  random <- lapply(parts, function(part) stats::reformulate(sprintf("1 | %s", part)))
  model <- if (n_makers > 2) {
    pooled_model(cells, c(list(~ years | maker), random), alpha, mods = ~years, struct = "GDIAG")
  } else {
    pooled_model(cells, random, alpha, mods = if (length(spread) > 1) ~ years + maker else ~years)
  }
  row <- data.frame(row = "trend", estimate = model$beta[[2]], std_error = model$se[[2]], n = n_makers)
  if (n_makers < least_makers) {
    message(sprintf(
      "The trend over dates has no interval: %d of the makers have models of several dates, and it takes %d.",
      n_makers, least_makers
    ))
    row$std_error <- NA_real_
    return(row)
  }
  row$df <- n_makers - 1
  row$p_value <- 2 * stats::pt(-abs(row$estimate / row$std_error), row$df)
  half_width <- stats::qt(1 - alpha / 2, row$df) * row$std_error
  row[c("conf_low", "conf_high")] <- list(row$estimate - half_width, row$estimate + half_width)
  stacked(list(row, data.frame(row = "tau_trend", estimate = sqrt(model$tau2[[2]]), n = n_makers)))
}

cell_rows <- function(cells, alpha) {
  half_width <- stats::qnorm(1 - alpha / 2) * cells$std_error
  data.frame(
    row = "cell", cells[c("model", "test", "estimate", "std_error")], conf_low = cells$estimate - half_width,
    conf_high = cells$estimate + half_width
  )
}

# The mean, and the same with the variance of what is new in a prediction.
mean_rows <- function(model, variances, n_cells, alpha) {
  is_crossed <- length(variances) > 1 && "test" %in% names(variances)
  of_model <- sum(variances[intersect(c(nests, "model"), names(variances))])
  added <- c(
    mean = 0, variances[names(variances) == "test"], if ("model" %in% names(variances)) c(model = of_model),
    if (is_crossed) c(cell = sum(variances))
  )
  std_error <- sqrt(model$se^2 + added)
  df <- model$ddf[[1]]
  mean <- as.vector(model$beta)
  half_width <- stats::qt(1 - alpha / 2, df) * std_error
  data.frame(
    row = ifelse(names(added) == "mean", "mean", paste0("new_", names(added))), estimate = mean, std_error = std_error,
    df = df, p_value = c(model$pval, rep(NA_real_, length(added) - 1)), conf_low = mean - half_width,
    conf_high = mean + half_width, n = n_cells, row.names = NULL
  )
}
