made_units <- function(n = 30, rho = .6, error = .5, seed = 1) {
  withr::local_seed(seed)
  x <- rnorm(n)
  y <- rho * x + sqrt(1 - rho^2) * rnorm(n)
  data.frame(
    model = rep(c("a", "b", "c"), length.out = n), test = paste("test", seq_len(n)),
    x = x + rnorm(n, sd = error), y = y + rnorm(n, sd = error), x_error = error, y_error = error
  )
}

test_that("without errors the interval is that of the profile likelihood's closed form", {
  units <- transform(made_units(), x_error = 0, y_error = 0)
  found <- convergent_validity(units)
  corrected <- found[found$row == "corrected", ]
  r <- cor(units$x, units$y)
  drop <- function(rho) -nrow(units) * log((1 - rho^2) * (1 - r^2) / (1 - rho * r)^2) - qchisq(.95, 1)
  expect_equal(corrected$estimate, r, tolerance = 1e-6)
  expect_equal(corrected$conf_low, uniroot(drop, c(-.99, r), tol = 1e-10)$root, tolerance = 1e-6)
  expect_equal(corrected$conf_high, uniroot(drop, c(r, .99), tol = 1e-10)$root, tolerance = 1e-6)
})

test_that("the plain correlations are R's own", {
  units <- made_units()
  found <- convergent_validity(units)
  direct <- cor.test(units$x, units$y)
  expect_identical(found$estimate[found$row == "pearson"], direct$estimate[[1]])
  expect_identical(found$conf_low[found$row == "pearson"], direct$conf.int[[1]])
  expect_equal(found$estimate[found$row == "spearman"], cor(units$x, units$y, method = "spearman"))
})

test_that("errors make the corrected correlation larger, and the unit does not matter", {
  found <- convergent_validity(made_units())
  plain <- found[found$row == "pearson", ]
  corrected <- found[found$row == "corrected", ]
  expect_gt(corrected$estimate, plain$estimate)
  expect_gt(corrected$conf_low, plain$conf_low)
  in_cents <- transform(made_units(), x = 100 * x, x_error = 100 * x_error)
  again <- convergent_validity(in_cents)
  expect_equal(again$estimate[again$row == "corrected"], corrected$estimate, tolerance = 1e-5)
})

test_that("each model is left out in turn", {
  units <- made_units()
  found <- convergent_validity(units)
  without <- found[found$row == "pearson_without" & found$left_out == "b", ]
  rest <- units[units$model != "b", ]
  expect_equal(without$estimate, cor(rest$x, rest$y))
  expect_equal(without$n, 20)
  expect_equal(sum(found$row == "corrected_without"), 3)
})

test_that("few units, and measures that are all error, are warned of; impossible ones fail alone", {
  few <- convergent_validity(made_units(8))
  expect_match(few$messages[[1]], "only 8 units")
  noise <- transform(made_units(), x_error = 5)
  found <- convergent_validity(noise)
  expect_true(is.na(found$estimate[found$row == "corrected"]))
  expect_match(found$messages[[1]], "x varies no more than its errors explain")
  both <- rbind(cbind(pair = "good", made_units()), cbind(pair = "bad", made_units(3)))
  apart <- convergent_validity(both, by = "pair")
  expect_equal(apart$status[apart$pair == "bad"], "failed")
  expect_false("failed" %in% apart$status[apart$pair == "good"])
  twice <- convergent_validity(rbind(made_units(), made_units()))
  expect_match(twice$messages, "more than one row for a test")
})

test_that("intervals cover the true correlation, where the plain one's do not", {
  skip_but_in_full()
  covers <- vapply(seq_len(200), function(seed) {
    found <- convergent_validity(made_units(30, .6, .7, seed))
    vapply(c("pearson", "corrected"), function(row) {
      one <- found[found$row == row, ]
      isTRUE(one$conf_low <= .6 && .6 <= one$conf_high)
    }, TRUE)
  }, logical(2))
  expect_gt(mean(covers["corrected", ]), .91)
  expect_lt(mean(covers["pearson", ]), .85)
})

test_that("the figure says both correlations and looks as it did", {
  skip_if_not_installed("ggplot2")
  figure <- plot_validity(made_units())
  expect_match(attr(figure, "alt_text"), "with errors taken into account 0")
  expect_same_figure("validity", figure)
})
