cells_of <- function(n_models, n_tests, spread = .3, seed = 1) {
  withr::with_seed(seed, {
    cells <- expand.grid(model = paste0("m", seq_len(n_models)), test = paste0("t", seq_len(n_tests)))
    shift <- stats::rnorm(n_models, sd = spread)[cells$model] + stats::rnorm(n_tests, sd = spread)[cells$test]
    cells$std_error <- stats::runif(nrow(cells), .05, .15)
    cells$true <- .5 + shift
    cells$estimate <- cells$true + stats::rnorm(nrow(cells), sd = cells$std_error)
  })
  cells
}

row_of <- function(pooled, row) pooled[pooled$row == row, ]

skip_if_not_installed("metafor")

test_that("mean, standard deviations and intervals are those of metafor", {
  cells <- cells_of(4, 10)
  cells$cell <- seq_len(nrow(cells))
  model <- metafor::rma.mv(
    estimate, std_error^2, random = list(~ 1 | test, ~ 1 | model, ~ 1 | cell), data = cells, test = "t",
    dfs = "contain"
  )
  predicted <- stats::predict(model)
  pooled <- meta_analysis(cells)
  mean <- row_of(pooled, "mean")
  expect_identical(c(mean$estimate, mean$std_error, mean$p_value), c(as.vector(model$beta), model$se, model$pval))
  expect_equal(c(mean$conf_low, mean$conf_high), c(model$ci.lb, model$ci.ub), tolerance = 1e-12)
  new <- row_of(pooled, "new_cell")
  expect_equal(c(new$conf_low, new$conf_high), c(predicted$pi.lb, predicted$pi.ub), tolerance = 1e-12)
  taus <- pooled[startsWith(pooled$row, "tau_"), ]
  expect_identical(taus$row, c("tau_test", "tau_model", "tau_cell"))
  expect_identical(taus$estimate, sqrt(model$sigma2))
  expect_identical(mean$df, 3)
})

test_that("a new test varies as tests do, a new model as models do", {
  pooled <- meta_analysis(cells_of(4, 10))
  squares <- function(row, column) row_of(pooled, row)[[column]]^2
  for (name in c("test", "model")) {
    added <- squares(paste0("new_", name), "std_error") - squares("mean", "std_error")
    expect_equal(added, squares(paste0("tau_", name), "estimate"), tolerance = 1e-12)
  }
})

test_that("of one model the cells are the tests", {
  cells <- cells_of(1, 10)
  pooled <- meta_analysis(cells)
  model <- metafor::rma.mv(estimate, std_error^2, random = ~ 1 | test, data = cells, test = "t", dfs = "contain")
  expect_identical(pooled$row[pooled$row != "cell"], c("mean", "new_test", "tau_test"))
  expect_identical(row_of(pooled, "tau_test")$estimate, sqrt(model$sigma2))
})

test_that("a standard deviation of 0 is said to lie on the boundary", {
  cells <- cells_of(4, 5)
  cells$estimate <- .5 + seq_len(20) / 1000
  expect_match(meta_analysis(cells)$messages[[1]], "between tests, models, cells is 0: on the boundary")
})

test_that("too few effects, and two of one cell, are said", {
  expect_match(meta_analysis(cells_of(2, 1))$messages, "at least three cells are needed, and there are 2")
  twice <- cells_of(2, 2)
  expect_match(meta_analysis(rbind(twice, twice))$messages, "more than one row for a test")
  expect_identical(nrow(meta_analysis(transform(twice, variant = "base"), by = "variant")), 11L)
})

test_in_full("the prediction interval of a new test of a new model covers its effect", {
  covered <- vapply(1:300, function(seed) {
    cells <- cells_of(9, 11, seed = seed) # the last model and test are those that are new
    new_one <- cells$model == "m9" & cells$test == "t11"
    known <- cells[cells$model != "m9" & cells$test != "t11", ]
    new <- row_of(meta_analysis(droplevels(known)), "new_cell")
    new$conf_low < cells$true[new_one] && cells$true[new_one] < new$conf_high
  }, NA)
  expect_gt(mean(covered), .95 - 3 * sqrt(.95 * .05 / 300))
})

test_figure("a forest plot shows every effect, and what they come to", {
  pooled <- meta_analysis(transform(cells_of(3, 4), source = "simulated"))
  expect_same_figure("forest", plot_forest(pooled))
  expect_match(attr(plot_forest(pooled), "alt_text"), "^Forest plot of 12 effects of tests and models. Together: Mean")
})

test_figure("pooled effects keep their source and labels, and the forest plot says them", {
  pooled <- meta_analysis(transform(cells_of(3, 4), test_label = paste("Test", test), source = "simulated"))
  expect_equal(unique(pooled$source), "simulated")
  plot <- plot_forest(pooled)
  expect_match(plot$labels$caption, "^Simulated answers: no model was asked.")
  expect_match(attr(plot, "alt_text"), "Simulated answers: no model was asked.", fixed = TRUE)
  expect_true(any(grepl("^Test ", levels(plot$data$name))))
})

test_figure("cells whose sign missing answers could have made are marked, in the rows and in the figure", {
  cells <- transform(cells_of(3, 4), is_sign_kept_by_missing = c(FALSE, rep(TRUE, 11)))
  pooled <- meta_analysis(cells)
  expect_equal(pooled$is_sign_kept_by_missing[pooled$row == "cell"], cells$is_sign_kept_by_missing)
  expect_true(all(is.na(pooled$is_sign_kept_by_missing[pooled$row != "cell"])))
  expect_equal(meta_analysis(cells_of(3, 4)), pooled[names(pooled) != "is_sign_kept_by_missing"])
  expect_match(attr(plot_forest(pooled), "alt_text"), "could have made the sign of 1 of them")
})
