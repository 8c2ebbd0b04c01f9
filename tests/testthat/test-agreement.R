# Krippendorff's (2011) example: four coders, twelve texts, five codes.
krippendorff <- function() {
  codes <- c(
    1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA, 1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, 3,
    NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NA, 1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA
  )
  data.frame(text = rep(1:12, 4), coder = rep(c("a", "b", "c", "d"), each = 12), code = codes)
}

test_that("alpha, AC1 and Fleiss' kappa are those that were printed", {
  found <- function(level) agreement(krippendorff(), level = level, draws = 0)[1, ]
  alphas <- vapply(c("nominal", "ordinal", "interval"), function(level) found(level)$alpha, 1)
  expect_equal(round(unname(alphas), 3), c(.743, .815, .849))
  expect_equal(round(c(found("nominal")$ac1, found("nominal")$kappa), 3), c(.775, .761))
})

test_that("a pair has Cohen's kappa, and its interval holds it", {
  rows <- subset(krippendorff(), coder %in% c("b", "c"))
  found <- agreement(rows, draws = 200)
  notes <- data.frame(reader = rows$coder, trial_id = rows$text, label = rows$code)
  expect_equal(found$kappa, label_agreement(notes)$kappa[[1]])
  expect_true(found$kappa_low <= found$kappa && found$kappa <= found$kappa_high)
  expect_identical(found, agreement(rows[rev(seq_len(nrow(rows))), ], draws = 200))
})

test_that("texts that one coder read say nothing, and codes that are all alike are missing, not 1", {
  rows <- krippendorff()
  all_alike <- transform(rows, code = ifelse(is.na(code), NA, 1))
  expect_equal(agreement(rows, draws = 0)$n_texts[[1]], 11)
  found <- agreement(all_alike, draws = 0)[1, ]
  expect_equal(found$observed, 1)
  expect_true(all(is.na(found[c("kappa", "alpha", "ac1")])))
})

test_that("groups are compared apart, and a code given twice is a sentence", {
  rows <- rbind(cbind(krippendorff(), run = "x"), cbind(krippendorff(), run = "y"))
  found <- agreement(rows, by = "run", draws = 0)
  expect_equal(found$alpha[found$run == "x"], found$alpha[found$run == "y"])
  expect_error(agreement(rows, draws = 0), "coded a text twice")
  expect_error(agreement(transform(krippendorff(), code = letters[code]), level = "ordinal"), "must be numbers")
})
