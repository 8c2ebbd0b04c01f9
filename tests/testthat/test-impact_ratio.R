rates <- function(counts, n) {
  data.frame(
    group = rep(names(counts), n), answer = unlist(Map(function(yes, n) rep(1:0, c(yes, n - yes)), counts, n))
  )
}
ratios_of <- function(...) impact_ratio(..., outcome = "answer", attributes = "group")$tables$ratios

test_that("without a word a level is compared with all others together, n and rates of both next to the ratio", {
  found <- ratios_of(rates(c(a = 60, b = 30, c = 30), c(100, 100, 100)))
  expect_equal(found$reference, rep("all others", 3))
  expect_equal(found$ratio, c(.6 / .3, .3 / .45, .3 / .45))
  expect_equal(found[2, c("rate", "n", "reference_rate", "n_reference")],
               data.frame(rate = .3, n = 100L, reference_rate = .45, n_reference = 200L), ignore_attr = TRUE)
})

test_that("a verdict has three values", {
  found <- ratios_of(rates(c(a = 400, b = 150, c = 290, d = 390), rep(500, 4)), reference = list(group = "a"))
  expect_equal(found$verdict, c(NA, "below", "below", "not below"))
  few <- ratios_of(rates(c(a = 20, b = 15), c(40, 40)), reference = list(group = "a"))
  expect_equal(few$ratio[[2]], .75)
  expect_equal(few$verdict[[2]], "undecided")
  expect_true(is.na(few$is_below_four_fifths[[2]]))
})

test_that("which answer is the good one turns rates round", {
  refused <- rates(c(a = 69, b = 44), c(100, 100))
  found <- ratios_of(refused, favourable = "no", reference = list(group = "b"))
  expect_equal(found$rate, c(.31, .56))
  expect_equal(found$ratio[[1]], .31 / .56)
  expect_equal(found$verdict[[1]], "below")
})

test_that("a rate of 0 is a ratio of 0 with an upper limit, and over a rate of 0 there is none", {
  found <- ratios_of(rates(c(a = 50, b = 0), c(100, 100)), reference = list(group = "a"))
  expect_equal(unlist(found[2, c("ratio", "conf_low")]), c(ratio = 0, conf_low = 0))
  expect_true(found$conf_high[[2]] > 0 && found$conf_high[[2]] < .2)
  other <- ratios_of(rates(c(a = 50, b = 0), c(100, 100)), reference = list(group = "b"))
  expect_true(is.na(other$ratio[[1]]))
})

test_that("against the highest rate the interval knows that it was picked: it is of all pairs at once", {
  rows <- rates(stats::setNames(c(24, 22, 20, 21, 19, 20, 18, 16), letters[1:8]), rep(40, 8))
  highest <- ratios_of(rows, reference = "highest")
  named <- ratios_of(rows, reference = list(group = "a"))
  expect_equal(highest$ratio, named$ratio)
  expect_true(all(highest$conf_high[-1] > named$conf_high[-1] * 1.1))
  expect_false(any(highest$is_below_four_fifths, na.rm = TRUE))
})

test_that("independent answers have the error of the delta method, on t; a number that is no 0 or 1 is a sentence", {
  rows <- rates(c(a = 50, b = 20), c(100, 80))
  found <- ratios_of(rows, reference = list(group = "a"))
  by_hand <- sqrt((1 / 50 - 1 / 100 + 1 / 20 - 1 / 80))
  expect_equal(log(found$conf_high[[2]] / found$ratio[[2]]) / stats::qt(.975, 179), by_hand, tolerance = .01)
  expect_match(impact_ratio(transform(rows, answer = 2 * answer), "answer", "group")$fits$error, "must be 0 or 1")
})
