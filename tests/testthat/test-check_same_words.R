# Two models whose true effects at words correlate by `rho`, with SD 30 between words, and by as much within two groups.
two_models <- function(rho, n_words = 30, n_wordings = 10, sd = 60, seed = 1) {
  with_seed(seed, {
    first <- stats::rnorm(n_words)
    true <- 30 * cbind(a = first, b = rho * first + sqrt(1 - rho^2) * stats::rnorm(n_words))
    rows <- expand.grid(
      item = seq_len(n_words), wording = seq_len(n_wordings), condition = conditions, model = c("a", "b"),
      stringsAsFactors = FALSE
    )
    code <- ifelse(rows$condition == "incompatible", .5, -.5)
    shift <- 20 + stats::rnorm(2 * n_wordings, sd = 25)[rows$wording + n_wordings * (rows$model == "b")]
    effect <- true[cbind(rows$item, match(rows$model, c("a", "b")))] + shift
    rows$tokens <- 300 + 3 * rows$item + code * effect + stats::rnorm(nrow(rows), sd = sd)
    transform(rows, test = "talk", group = ifelse(item <= n_words / 2, "x", "y"))
  })
}

test_that("effects at words are mean differences within wordings, with the errors of a two-way analysis of variance", {
  rows <- subset(two_models(.5), model == "a")
  found <- check_effects_by_word(rows, c("model", "test"), levels = conditions)
  wide <- tapply(rows$tokens, list(rows$item, rows$wording, rows$condition), mean)
  difference <- wide[, , "incompatible"] - wide[, , "compatible"]
  expect_equal(found$estimate, unname(rowMeans(difference)))
  long <- data.frame(d = as.vector(difference), word = factor(row(difference)), wording = factor(col(difference)))
  residual <- summary(stats::aov(d ~ word + wording, long))[[1]]["Residuals", "Mean Sq"]
  expect_equal(mean(found$std_error^2), residual / 10)
  expect_equal(found$n, rep(10L, 30))
})

test_that("the plain and the corrected correlation are those of plain R", {
  rows <- two_models(.5)
  effects <- lapply(c(a = "a", b = "b"), function(model) {
    fit <- stats::lm(tokens ~ factor(item) * condition + factor(wording) * condition, rows[rows$model == model, ],
      contrasts = list(`factor(wording)` = "contr.sum")
    )
    beta <- stats::coef(fit)["conditionincompatible"] +
      c(0, stats::coef(fit)[grepl("item.*:condition", names(stats::coef(fit)))])
    list(beta = unname(beta), error = 2 * stats::sigma(fit)^2 / 10)
  })
  found <- check_same_words(rows, levels = conditions)
  covariance <- stats::cov(effects$a$beta, effects$b$beta)
  true <- vapply(effects, function(one) stats::var(one$beta) - one$error, 1)
  expect_equal(found$correlation, stats::cor(effects$a$beta, effects$b$beta))
  expect_equal(found$corrected, covariance / sqrt(prod(true)), tolerance = .02)
  expect_equal(found$p_value, stats::cor.test(effects$a$beta, effects$b$beta)$p.value, tolerance = .3)
  expect_equal(found[c("model", "test", "other_model")], data.frame(model = "a", test = "talk", other_model = "b"))
})

test_in_full("a known correlation comes out without errors, and the plain one is too small", {
  found <- do.call(rbind, lapply(1:12, function(seed) {
    check_same_words(two_models(.6, 50, 10, seed = seed), levels = conditions)
  }))
  expect_lt(abs(mean(found$corrected) - .6), 3 * stats::sd(found$corrected) / sqrt(12))
  expect_lt(mean(found$correlation), .45)
  expect_equal(mean(found$reliability), 900 / (900 + 2 * 3600 / 10), tolerance = .1)
  expect_gt(mean(found$conf_low <= .6 & .6 <= found$conf_high), .85)
})

test_in_full("words in random order agree as often as p says, over all models of a test", {
  rows <- do.call(rbind, lapply(1:3, function(k) {
    transform(two_models(0, 20, 4, seed = k), model = paste0(model, k))
  }))
  found <- check_same_words(rows, levels = conditions)
  expect_equal(nrow(found), choose(6, 2))
  expect_equal(unique(found$mean_correlation), mean(found$correlation))
  apart <- transform(rows, item = ifelse(model == "a1", item + 20, item))
  expect_equal(sum(is.na(check_same_words(apart, levels = conditions)$correlation)), 5)
  expect_gt(unique(found$p_test), .05)
  same <- check_same_words(rbind(rows, transform(rows, model = paste0(model, "+"))), levels = conditions)
  expect_lt(unique(same$p_test), .01)
})

test_that("missing answers, groups, one wording and one model are no failure", {
  rows <- two_models(.5)
  within <- check_same_words(rows, levels = conditions)$within_groups
  expect_true(is.finite(within))
  fewer <- rows[-seq(1, nrow(rows), 7), ]
  found <- check_same_words(fewer, levels = conditions)
  expect_equal(found$correlation, check_same_words(rows, levels = conditions)$correlation, tolerance = .25)
  once <- check_same_words(subset(rows, wording == 1), levels = conditions)
  expect_true(is.finite(once$correlation) && is.na(once$corrected) && once$status == "ok")
  expect_equal(nrow(check_same_words(subset(rows, model == "a"), levels = conditions)), 0)
  expect_error(check_effects_by_word(rows, levels = "compatible"), "two different values")
})

test_figure("the figure looks as it did", {
  skip_but_in_full()
  rows <- rbind(two_models(.8), transform(subset(two_models(.2, seed = 3), model == "b"), model = "c"))
  found <- check_same_words(rbind(rows, transform(rows, test = "walk")), levels = conditions)
  found$corrected[[2]] <- NA
  expect_same_figure("same words", plot_same_words(transform(found, source = "simulated")))
})
