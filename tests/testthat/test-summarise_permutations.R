made_refits <- function(n, status = "ok") data.frame(number = 0:n, status = status, n_divergent = 0)

made_cells <- function(values) {
  n <- length(values) - 1
  data.frame(number = 0:n, model = "a", test = "b", delta_p = values, is_separated = c(TRUE, rep(FALSE, n)))
}

test_that("p counts what is as large as the observed, ties included, and the observed itself", {
  found <- summarise_permutations(made_cells(c(.2, .1, .2, .3, -.4)), made_refits(4))
  expect_equal(found$n_as_large, 2)
  expect_equal(found$p_one_sided, 3 / 5)
  expect_equal(found$p_two_sided, 1)
  expect_equal(found$null_mean, .05)
  expect_equal(found$null_sd, sd(c(.1, .2, .3, -.4)))
  expect_equal(found$n_separated, 0)
})

test_that("the interval of p is that of binom.test(), the two-sided p twice the smaller tail", {
  found <- summarise_permutations(made_cells(c(.95, 1:100 / 100)), made_refits(100))
  exact <- stats::binom.test(6, 100)$conf.int
  expect_equal(c(found$p_low, found$p_high), as.vector(exact))
  expect_equal(found$p_two_sided, 2 * 7 / 101)
  none <- summarise_permutations(made_cells(c(2, 1:100 / 100)), made_refits(100))
  expect_equal(c(none$p_low, none$p_high), as.vector(stats::binom.test(0, 100)$conf.int))
  expect_equal(none$p_one_sided, 1 / 101)
})

test_that("a failed refit takes no part, and is counted in its cell", {
  refits <- made_refits(4)
  refits$status[[3]] <- "failed"
  refits$n_divergent[[4]] <- 5
  found <- summarise_permutations(made_cells(c(.2, .1, NA, .3, -.4)), refits)
  expect_equal(found[c("n", "n_failed", "n_divergent")], data.frame(n = 3L, n_failed = 1L, n_divergent = 1L))
  expect_equal(found$p_one_sided, 2 / 4)
  expect_equal(found$p_if_failed_large, 3 / 5)
  gone <- summarise_permutations(made_cells(c(.2, .1, .3, -.4))[-2, ], made_refits(3))
  expect_equal(gone$n_failed, 1)
})

test_that("the share of Monte Carlo error is that of the null's variance", {
  cells <- made_cells(c(.2, .1, .2, .3, -.4))
  cells$delta_p_mcse <- .01
  found <- summarise_permutations(cells, made_refits(4))
  expect_equal(found$noise_share, 1e-4 / var(c(.1, .2, .3, -.4)))
})

test_that("without the observed data there is nothing to sum up", {
  expect_error(summarise_permutations(made_cells(1:3)[-1, ], made_refits(2)[-1, ]), "number 0")
  expect_error(summarise_permutations(made_cells(1), made_refits(0)), "others")
})
