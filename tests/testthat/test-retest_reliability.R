made_again <- function(n = 60) {
  withr::local_seed(3)
  true <- rnorm(n, 500, 100)
  first_answer <- sample(c("a", "b"), n, TRUE)
  data.frame(
    model = "m", measure = "tokens", occasion = 2L, trial_id = paste0("t", seq_len(n)), first_answer = first_answer,
    later_answer = ifelse(seq_len(n) %% 5 == 0, "refused", first_answer), first_value = true + rnorm(n, 0, 60),
    later_value = true + 30 + rnorm(n, 0, 60)
  )
}

test_that("kappa is that of two readers, the shift R's own paired t test, icc that of intraclass_correlation()", {
  rows <- made_again()
  found <- retest_reliability(rows, by = "model")
  notes <- data.frame(
    reader = rep(c("first", "later"), each = nrow(rows)), trial_id = rep(rows$trial_id, 2),
    label = c(rows$first_answer, rows$later_answer)
  )
  its <- agreement(notes, "label", "reader", "trial_id", draws = 0)
  expect_equal(c(found$n_answers, found$share_equal, found$kappa), c(its$n_texts, its$observed, its$kappa))
  expect_lt(found$kappa_low, found$kappa)
  test <- stats::t.test(rows$later_value, rows$first_value, paired = TRUE)
  expect_equal(
    unlist(found[c("shift", "shift_low", "shift_high", "p_value")], use.names = FALSE),
    c(test$estimate[[1]], test$conf.int[1:2], test$p.value)
  )
  icc <- intraclass_correlation(rows[c("first_value", "later_value")])
  expect_equal(c(found$icc, found$icc_agreement), icc$estimate[1:2])
  expect_equal(found$shift_d, found$shift / stats::sd(rows$first_value))
})

test_that("the correlation within cells knows nothing of what tests and conditions differ by", {
  rows <- made_again(200)
  rows$condition <- rep(c("x", "y"), 100)
  rows[c("first_value", "later_value")] <- 300 * (rows$condition == "x") + with_seed(1, stats::rnorm(400, 500, 100))
  found <- retest_reliability(rows, by = "model")
  expect_gt(found$icc, .6)
  expect_lt(abs(found$icc_residual), .2)
  expect_true(found$icc_residual_low < 0 && 0 < found$icc_residual_high)
  one <- retest_reliability(rows[rows$condition == "x", ], by = "model")
  expect_equal(one$icc_residual, one$icc)
  long <- data.frame(value = unlist(rows[c("first_value", "later_value")]), cell = rows$condition, id = rows$trial_id)
  squares <- summary(stats::aov(value ~ cell + factor(id), long))[[1]][["Mean Sq"]]
  expect_equal(found$icc_residual, (squares[[2]] - squares[[3]]) / (squares[[2]] + squares[[3]]))
})

test_that("words of one answer are one trial: their interval is as wide as if each had one word", {
  rows <- made_again()
  ten_words <- rows[rep(seq_len(nrow(rows)), each = 10), ]
  ten_words$first_value[duplicated(ten_words$trial_id)] <- NA
  found <- lapply(list(rows, ten_words), retest_reliability, by = "model")
  expect_equal(found[[2]]$kappa_low, found[[1]]$kappa_low)
  expect_equal(c(found[[2]]$n_answers, found[[2]]$n), c(600, 60))
})

test_in_full("kappa's interval holds the true value as often as it says", {
  withr::local_seed(4)
  # .8 of the answers are kept, the rest drawn anew of two that are as frequent: kappa is .8
  holds <- replicate(400, {
    first <- sample(1:2, 150, TRUE)
    codes <- cbind(first, ifelse(runif(150) < .8, first, sample(1:2, 150, TRUE)))
    counts <- cross_table(codes, 2)
    abs(kappa_of(counts) - .8) < qnorm(.975) * jackknife_error(codes, 1:150, counts)
  })
  expect_lt(abs(mean(holds) - .95), 3 * sqrt(.95 * .05 / 400))
})

test_that("answers that are all alike, and too few values, are missing with their reason", {
  rows <- transform(made_again(4), first_answer = "a", later_answer = "a", later_value = c(1, 2, NA, NA))
  found <- retest_reliability(rows, by = "model")
  expect_equal(found$share_equal, 1)
  expect_true(is.na(found$kappa) && is.na(found$icc))
  expect_match(found$messages, "kappa is undefined")
  expect_match(found$messages, "Three trials with a measure on both occasions are needed, and there are 2")
  expect_error(retest_reliability(rows["model"]), "first_value")
})
