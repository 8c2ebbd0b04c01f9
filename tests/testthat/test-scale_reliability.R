personality <- function() {
  folder <- shared_data("ratings_personality")
  answers <- utils::read.csv(file.path(folder, "answers.csv"))
  list(
    answers = stats::setNames(answers, c("respondent", "item", "rating")),
    keys = utils::read.csv(file.path(folder, "keys.csv")),
    expected = utils::read.csv(file.path(folder, "recomputed.csv"))
  )
}

# Four items of one trait, the last turned round.
made_answers <- function(n = 80) {
  withr::with_seed(5, {
    trait <- stats::rnorm(n)
    items <- vapply(1:4, function(k) pmin(7, pmax(1, round(4 + trait + stats::rnorm(n)))), double(n))
    items[, 4] <- 8 - items[, 4]
    data.frame(respondent = rep(seq_len(n), 4), item = rep(letters[1:4], each = n), rating = as.vector(items))
  })
}
made_keys <- data.frame(scale = "trait", item = letters[1:4], key = c(1, 1, 1, -1))
scales_of <- function(...) scale_reliability(..., limits = c(1, 7))$scales

test_that("six published scales come to the numbers that were kept", {
  data <- personality()
  found <- scale_reliability(data$answers, data$keys, limits = c(1, 9))$scales
  wanted <- data$expected[match(found$scale, data$expected$scale), ]
  same <- c(
    n_items = "items", n_reversed = "reversed", n = "n", mean = "mean", sd = "sd", alpha_raw = "alpha_raw",
    alpha_std = "alpha_std", alpha_without_reversing = "alpha_without_reversing", mean_r = "mean_r",
    n_negative = "items_with_negative_item_rest_r"
  )
  for (name in names(same)) expect_equal(found[[name]], wanted[[same[[name]]]], tolerance = 1e-6, info = name)
  expect_lt(max(abs(found$omega_total - wanted$omega_total_1factor)), 5e-5)
  expect_match(found$doubts[found$scale == "honesty_humility"], "Against the rest of the scale: \"sugary\"")
})

test_that("loadings are those of one minres factor of psych", {
  skip_if_not_installed("psych")
  answers <- made_answers()
  wide <- matrix(answers$rating, ncol = 4)
  wide[, 4] <- 8 - wide[, 4]
  theirs <- suppressMessages(psych::fa(wide, 1, fm = "minres", warnings = FALSE))$loadings[, 1]
  ours <- scale_reliability(answers, made_keys, limits = c(1, 7))$items
  expect_equal(ours$loading, unname(theirs * sign(sum(theirs))), tolerance = 1e-3)
  alpha <- suppressMessages(psych::alpha(as.data.frame(wide)))
  expect_equal(scales_of(answers, made_keys)$alpha_raw, alpha$total$raw_alpha)
  expect_equal(ours$item_rest_r, alpha$item.stats$r.drop)
})

test_that("a key that was not applied makes alpha small, and is named", {
  found <- scales_of(made_answers(), transform(made_keys, key = 1))
  expect_equal(found$alpha_raw, scales_of(made_answers(), made_keys)$alpha_without_reversing)
  expect_match(found$doubts, "Against the rest of the scale: \"d\". Was a key not applied?", fixed = TRUE)
})

test_that("alpha of few respondents is doubted, with its interval", {
  answers <- made_answers(6)
  wide <- matrix(answers$rating, 6)
  wide[, 4] <- 8 - wide[, 4]
  single <- unlist(intraclass_correlation(wide)[3, c("conf_low", "conf_high")]) # alpha is the mean's consistency
  ends <- do.call(sprintf, c("%.2f to %.2f.", as.list(4 * single / (1 + 3 * single))))
  expect_equal(scales_of(answers, made_keys)$doubts, paste("Only 6 respondents: the 95 % interval of alpha is", ends))
  expect_equal(scales_of(made_answers(), made_keys)$doubts, "")
})

test_that("repetitions are averaged first", {
  answers <- made_answers()
  again <- rbind(transform(answers, repetition = 1), transform(answers, repetition = 2))
  expect_equal(scales_of(again, made_keys), scales_of(answers, made_keys))
})

test_that("an item with the same answer from everybody is left out and named", {
  answers <- made_answers()
  answers$rating[answers$item == "b"] <- 4
  fit <- scale_reliability(answers, made_keys, limits = c(1, 7))
  expect_match(fit$scales$doubts, "same answer from everybody, left out: \"b\"")
  expect_equal(fit$scales$alpha_raw, scales_of(answers[answers$item != "b", ], made_keys[-2, ])$alpha_raw)
  expect_equal(is.na(fit$items$loading), c(FALSE, TRUE, FALSE, FALSE))
})

test_that("who answered fewer than 80 % of a scale has no score", {
  answers <- made_answers()
  answers$rating[answers$respondent == 3 & answers$item == "a"] <- NA
  fit <- scale_reliability(answers, made_keys, limits = c(1, 7))
  expect_true(is.na(fit$scores$score[[3]]))
  expect_equal(fit$scales$n, 79)
  expect_match(fit$scales$doubts, "79 of 80 respondents answered all items")
  all <- scale_reliability(answers, made_keys, limits = c(1, 7), least_answered = .75)
  turned <- answers$rating[answers$respondent == 3]
  expect_equal(all$scores$score[[3]], mean(c(turned[2:3], 8 - turned[[4]])))
})

test_that("groups have scales of their own", {
  both <- rbind(transform(made_answers(), model = "m"), transform(made_answers(40), model = "n"))
  found <- scales_of(both, made_keys, by = "model")
  expect_equal(found[c("model", "n")], data.frame(model = c("m", "n"), n = c(80L, 40L)))
})

test_that("keys and answers that can't be are sentences", {
  answers <- made_answers()
  expect_error(scales_of(answers, transform(made_keys, key = 2)), "Keys must be 1 or -1")
  expect_error(scales_of(answers, rbind(made_keys, made_keys)), "\"a\" twice in scale \"trait\"")
  expect_error(scales_of(answers, rbind(made_keys, list("trait", "z", 1))), "nobody was asked: \"z\"")
  expect_error(scale_reliability(answers, made_keys, limits = c(1, 5)), "outside of `limits` \\(1 to 5\\)")
  expect_error(scale_reliability(answers, made_keys, limits = 7), "the lowest and the highest answer")
})
