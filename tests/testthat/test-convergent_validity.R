# Units of models and tests that are crossed, with effects of each that correlate by `rho` in both measures.
made_units <- function(n_models = 5, n_tests = 6, rho = .6, error = .3, seed = 1) {
  withr::local_seed(seed)
  pairs <- function(n) {
    x <- rnorm(n)
    cbind(x, rho * x + sqrt(1 - rho^2) * rnorm(n))
  }
  model <- rep(seq_len(n_models), each = n_tests)
  test <- rep(seq_len(n_tests), n_models)
  true <- pairs(n_models)[model, ] + pairs(n_tests)[test, ] + pairs(n_models * n_tests)
  data.frame(
    model = c(letters, LETTERS)[model], test = paste("test", test), x = true[, 1] + rnorm(nrow(true), sd = error),
    y = true[, 2] + rnorm(nrow(true), sd = error), x_error = error, y_error = error
  )
}

row_of <- function(found, row) found[found$row == row, ]

test_that("plain correlations are R's own, without the interval of independent units; each model is left out in turn", {
  units <- made_units()
  found <- convergent_validity(units)
  expect_equal(row_of(found, "pearson")$estimate, cor(units$x, units$y))
  expect_equal(row_of(found, "spearman")$estimate, cor(units$x, units$y, method = "spearman"))
  expect_true(is.na(row_of(found, "pearson")$conf_low))
  without <- found[found$row == "pearson_without" & found$left_out == "b", ]
  rest <- units[units$model != "b", ]
  expect_equal(without$estimate, cor(rest$x, rest$y))
  expect_equal(without$n, 24)
  expect_equal(sum(found$row == "corrected_without"), 5)
})

test_that("correlations of levels are those of the mean squares of a two-way analysis of variance", {
  units <- made_units()
  found <- convergent_validity(units)
  squares <- function(values) {
    rows <- anova(lm(values ~ model + test, units))
    setNames(rows$`Mean Sq`, c("model", "test", "cell"))
  }
  # cov(x, y) = (var(x + y) - var(x - y)) / 4, level by level
  products <- (squares(units$x + units$y) - squares(units$x - units$y)) / 4
  of_level <- function(values, error) {
    c(model = (values[["model"]] - values[["cell"]]) / 6, test = (values[["test"]] - values[["cell"]]) / 5,
      cell = values[["cell"]] - error)
  }
  xy <- of_level(products, 0)
  expected <- xy / sqrt(of_level(squares(units$x), .09) * of_level(squares(units$y), .09))
  rows <- c(model = "between_models", test = "between_tests", cell = "within_cells")
  expect_equal(found$estimate[match(rows, found$row)], pmin(unname(expected), 1), tolerance = 1e-8)
})

test_that("of one level, without errors, the interval is the exact one of a correlation", {
  units <- transform(made_units(30, 1), x_error = 0, y_error = 0, test = model)
  found <- row_of(convergent_validity(units), "corrected")
  r <- cor(units$x, units$y)
  expect_equal(found$estimate, r)
  # Fisher's, which is near the exact one at 30 units
  expect_equal(c(found$conf_low, found$conf_high), c(cor.test(units$x, units$y)$conf.int), tolerance = .03)
})

test_that("errors make the corrected correlation larger, and the unit does not matter", {
  units <- made_units(8, 8, error = .8)
  found <- convergent_validity(units)
  expect_gt(row_of(found, "corrected")$estimate, row_of(found, "pearson")$estimate)
  again <- convergent_validity(transform(units, x = 100 * x, x_error = 100 * x_error))
  expect_equal(again$estimate, found$estimate)
  expect_equal(again$conf_low, found$conf_low)
})

test_that("permutations keep what units share: few models that go together prove little", {
  units <- made_units(2, 6, error = .1)
  high <- units$model == "b"
  units[high, c("x", "y")] <- units[high, c("x", "y")] + 20
  found <- row_of(convergent_validity(units), "pearson")
  expect_gt(found$estimate, .9)
  expect_lt(cor.test(units$x, units$y)$p.value, 1e-6)
  expect_gt(found$p_value, .05)
})

test_that("under five models nothing has an interval, and it is said", {
  found <- convergent_validity(made_units(4))
  expect_true(all(is.na(found$conf_low)))
  expect_match(found$messages[[1]], "only 4 models, and so no intervals: they take 5")
  expect_false(is.na(row_of(convergent_validity(made_units(5)), "corrected")$conf_low))
})

test_that("where each model has tests of its own there is no level of tests", {
  units <- transform(made_units(), test = paste(model, test))
  expect_setequal(
    setdiff(convergent_validity(units)$row, c("pearson_without", "corrected_without")),
    c("pearson", "spearman", "corrected", "between_models", "within_cells")
  )
})

test_that("a table with gaps is fitted too, and permuted where it is whole", {
  found <- convergent_validity(made_units()[-(1:2), ])
  expect_false(anyNA(found$estimate))
  expect_false(anyNA(found$p_value[is.na(found$left_out)]))
})

test_that("few units, and measures that are all error, are warned of; impossible ones fail alone", {
  few <- convergent_validity(made_units(2, 4))
  expect_match(few$messages[[1]], "only 8 units")
  noise <- transform(made_units(), x_error = 5)
  found <- convergent_validity(noise)
  expect_true(is.na(row_of(found, "corrected")$estimate))
  expect_match(found$messages[[1]], "x varies no more over units than its errors explain")
  both <- rbind(cbind(pair = "good", made_units()), cbind(pair = "bad", made_units(1, 3)))
  apart <- convergent_validity(both, by = "pair")
  expect_equal(apart$status[apart$pair == "bad"], "failed")
  expect_false("failed" %in% apart$status[apart$pair == "good"])
  twice <- convergent_validity(rbind(made_units(), made_units()))
  expect_match(twice$messages, "more than one row for a test")
})

test_figure("the figure says both correlations and looks as it did", {
  figure <- plot_validity(made_units())
  expect_match(attr(figure, "alt_text"), "with errors taken into account 0")
  expect_same_figure("validity", figure)
})

test_that("of one unit a model, the slope is R's own without errors, and larger where errors of x had made it small", {
  units <- transform(made_units(20, 1), x_error = 0, y_error = 0)
  found <- row_of(convergent_validity(units), "slope")
  regression <- lm(y ~ x, units)
  expect_equal(found$estimate, coef(regression)[["x"]])
  expect_equal(c(found$conf_low, found$conf_high), unname(confint(regression)["x", ]), tolerance = .05)
  with_errors <- row_of(convergent_validity(transform(units, x_error = .3)), "slope")
  expect_gt(abs(with_errors$estimate), abs(found$estimate))
})
