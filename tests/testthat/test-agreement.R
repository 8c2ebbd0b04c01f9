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

# Codes of two coders from the counts of a printed table: rows are the first one's.
coded_as <- function(counts) {
  cells <- as.data.frame(as.table(counts), stringsAsFactors = FALSE)
  codes <- cells[rep(seq_len(nrow(cells)), cells$Freq), ]
  n <- nrow(codes)
  data.frame(coder = rep(c("a", "b"), each = n), text = rep(seq_len(n), 2), code = c(codes$Var1, codes$Var2))
}

test_that("a pair's kappa is the printed one, of each code against all others, too", {
  kappas <- lapply(list(
    c(88, 10, 2, 14, 40, 6, 18, 10, 12), # Cohen (1968)
    c(106, 22, 2, 10, 28, 12, 4, 10, 6) # Fleiss, Cohen and Everitt (1969)
  ), function(counts) agreement(coded_as(matrix(counts, 3)), draws = 0)$kappa)
  expect_equal(round(unlist(kappas), 3), c(.492, .429))
  of_codes <- agreement(coded_as(matrix(c(20, 10, 5, 15), 2)), each_code = TRUE, draws = 0)
  expect_equal(of_codes$code, c(NA, "A", "B"))
  expect_equal(of_codes$kappa, c(.4, .4, .4))
})

test_that("an interval holds its kappa, and does not depend on the order of rows", {
  rows <- subset(krippendorff(), coder %in% c("b", "c"))
  found <- agreement(rows, draws = 200)
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
