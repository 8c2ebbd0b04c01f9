expected_numbers <- function(file, rows) {
  found <- utils::read.csv(shared_path("data", "coded_text", file))
  found[rows(found), ]
}

posts_of_print <- function() {
  posts <- utils::read.csv(shared_path("data", "coded_text", "dsl_PanChen.csv"))
  cbind(posts, fold = (seq_len(nrow(posts)) - 1) %% 5)
}

numbers_of <- function(estimates) unlist(estimates[c("estimate", "std_error")], use.names = FALSE)

test_that("each printed regression comes to its numbers, with the outcome, a predictor or both coded", {
  read <- function(name) {
    rows <- utils::read.csv(shared_path("data", "coded_text", sprintf("dsl_%s.csv", name)))
    cbind(rows, fold = (seq_len(nrow(rows)) - 1) %% 5)
  }
  code <- "countyWrong"
  posts <- "SendOrNot ~ countyWrong + prefecWrong + connect2b + prevalence + regionj + groupIssue"
  cases <- list(
    list("PanChen", "PanChen", posts, list(countyWrong = "pred_countyWrong"), "binomial"),
    list("data_lm", "data_lm", "Y ~ X1 + X2 + X3 + X4 + X5", list(Y = "pred_Y"), "gaussian"),
    list("data_logit", "data_logit", "Y ~ X1 + X2 + X4", list(Y = "pred_Y", X1 = "pred_X1"), "binomial"),
    list("PanChen", "PanChen prevalence", "countyWrong ~ 1", list(countyWrong = "pred_countyWrong"), "gaussian"),
    list("PanChen", "PanChen countyWrong ~ SendOrNot", "countyWrong ~ SendOrNot",
         list(countyWrong = "pred_countyWrong"), "gaussian")
  )
  for (case in cases) {
    for (kind in c("linear", "prediction")) {
      wanted <- expected_numbers("expected_dsl.csv", function(rows) rows$dataset == case[[2]] & rows$g == kind)
      if (nrow(wanted) == 0) next
      how <- if (kind == "prediction") "code" else kind
      rows <- read(case[[1]])
      fit <- suppressMessages(fit_dsl(rows, case[[3]], case[[4]], case[[5]], prediction = how, fold = "fold"))
      expect_equal(numbers_of(fit$estimates), numbers_of(wanted), tolerance = 1e-9, info = paste(case[[2]], kind))
    }
  }
})

test_that("prediction-powered inference has ppi_py's numbers, tuned, with all codes and with none", {
  wanted <- utils::read.csv(shared_path("data", "coded_text", "expected_ppi_py.csv"))
  families <- c(mean = "gaussian", ols = "gaussian", logistic = "binomial")
  for (case in split(wanted, paste(wanted$what, wanted$lam))) {
    what <- case$what[[1]]
    lambda <- if (case$lam[[1]] != "tuned") as.numeric(case$lam[[1]])
    formula <- if (what == "mean") "countyWrong ~ 1" else "countyWrong ~ SendOrNot"
    fit <- fit_ppi(posts_of_print(), formula, list(countyWrong = "pred_countyWrong"), families[[what]], lambda)
    expect_equal(numbers_of(fit$estimates), numbers_of(case), tolerance = 1e-4, info = paste(what, case$lam[[1]]))
  }
})

test_that("codes taken as truth find what is not there, and the corrected estimate stands next to them", {
  fit <- fit_dsl(posts_of_print(), "countyWrong ~ SendOrNot", list(countyWrong = "pred_countyWrong"))
  of_effect <- subset(fit$tables$corrections, term == "SendOrNot")
  expect_equal(of_effect$method, c("coder", "people", "corrected"))
  expect_lt(of_effect$p_value[[1]], 1e-10)
  expect_gt(of_effect$p_value[[3]], .2)
  coded <- stats::lm(countyWrong ~ SendOrNot, posts_of_print())
  expect_equal(of_effect$estimate[[2]], stats::coef(coded)[["SendOrNot"]])
  expect_lt(of_effect$std_error[[3]], of_effect$std_error[[2]])
  expect_match(fit$fits$messages, "simple random sample")
})

coded_posts <- function(n = 400) {
  withr::local_seed(2)
  posts <- data.frame(condition = rep(c("b", "a"), n / 2), name = rep(1:8, each = n / 8), truth = rbinom(n, 1, .4))
  posts$code <- ifelse(runif(n) < .1, 1 - posts$truth, posts$truth)
  posts$drawn <- ifelse(posts$code == 1, .5, .25)
  posts$angry <- ifelse(runif(n) < posts$drawn, posts$truth, NA)
  posts
}

test_that("texts drawn with known probabilities are weighted, and few clusters are left out in turn", {
  posts <- coded_posts()
  fit <- fit_dsl(posts, "angry ~ 1", list(angry = "code"), probability = "drawn", prediction = "code")
  weight <- ifelse(is.na(posts$angry), 0, 1 / posts$drawn)
  by_hand <- mean(posts$code + weight * (ifelse(is.na(posts$angry), 0, posts$angry) - posts$code))
  expect_equal(fit$estimates$estimate, by_hand)
  without <- vapply(1:8, function(one) {
    rows <- posts[posts$name != one, ]
    suppressMessages(fit_dsl(rows, "angry ~ 1", list(angry = "code"), probability = "drawn", prediction = "code"))$
      estimates$estimate
  }, 1)
  over <- fit_dsl(
    posts, "angry ~ 1", list(angry = "code"), probability = "drawn", prediction = "code", cluster = "name"
  )
  expect_equal(over$estimates$std_error, sqrt(sum((without - by_hand)^2) * 7 / 8))
  expect_equal(over$estimates$df, 7)
})

test_that("errors over names and jobs are those of both, of the corrected outcome", {
  posts <- cbind(coded_posts(), job = rep(1:50, 8), author = rep(1:40, each = 10))
  fit <- function(formula, cluster) {
    fit_dsl(posts, formula, list(angry = "code"), probability = "drawn", prediction = "code", cluster = cluster)
  }
  posts$corrected <- with(posts, code + ifelse(is.na(angry), 0, (angry - code) / drawn))
  model <- stats::lm(corrected ~ condition, posts)
  by_hand <- lapply(c(~ author + job, ~ author, ~ job), function(over) diag(sandwich::vcovCL(model, over, "HC0")))
  estimates <- fit("angry ~ condition", c("author", "job"))$estimates
  expect_equal(estimates$std_error, unname(sqrt(do.call(pmax, by_hand))))
  expect_equal(estimates$df, c(39, 39))
  expect_match(fit("angry ~ condition + (1 | job)", c("author", "job"))$messages$text, "over one `cluster`")
})

test_that("a perfect coder leaves no error of the correction, and the same seed the same folds", {
  posts <- coded_posts()
  posts$code <- posts$truth
  again <- function() fit_dsl(posts, "angry ~ condition", list(angry = "code"), levels = list(condition = c("a", "b")))
  fit <- again()
  of_all <- stats::lm(truth ~ condition, posts)
  expect_equal(fit$estimates$estimate, unname(stats::coef(of_all)))
  expect_equal(fit$estimates$term, c("intercept", "conditionb"))
  expect_identical(fit, again())
})

test_that("standard errors at other numbers of labels are those that the print predicts", {
  formula <- "SendOrNot ~ countyWrong + prefecWrong + connect2b + prevalence + regionj + groupIssue"
  n <- c(500, 600, 700, 800, 900, 1000, 1e6)
  fit <- fit_dsl(
    posts_of_print(), formula, list(countyWrong = "pred_countyWrong"), "binomial", fold = "fold", labels = n
  )
  found <- subset(fit$tables$labels, term == "countyWrong")
  expect_equal(found$std_error[1:6], c(.2230, .2046, .1904, .1789, .1695, .1616), tolerance = .02)
  expect_equal(found$n_labels[[7]], nrow(posts_of_print())) # all there are
  expect_equal(found$std_error[[1]], fit$estimates$std_error[[2]])
})

test_that("clusters that agree less than chance leave an error when people code all texts", {
  posts <- coded_posts()
  is_coded <- !is.na(posts$angry)
  posts$six <- seq_len(400) %% 6
  of_coded <- posts[is_coded, ]
  posts$six[is_coded] <- stats::ave(of_coded$name, of_coded$truth, FUN = seq_along) %% 6 # each as angry as the others
  fit <- fit_dsl(posts, "angry ~ 1", list(angry = "code"), probability = "drawn", cluster = "six",
                 labels = c(sum(is_coded), 400))
  expect_equal(fit$tables$labels$std_error[[1]], fit$estimates$std_error)
  expect_gt(fit$tables$labels$std_error[[2]], .7 * fit$estimates$std_error)
})

test_that("corrected means of levels are those of people and codes by hand, and ratios theirs", {
  posts <- coded_posts()
  levels <- list(condition = c("a", "b"))
  of <- function(estimator) {
    fit_dsl(posts, "angry ~ condition", list(angry = "code"), probability = "drawn", prediction = "code",
            levels = levels, estimator = estimator)$tables$corrections
  }
  weight <- ifelse(is.na(posts$angry), 0, 1 / posts$drawn)
  whole <- posts$code + weight * (ifelse(is.na(posts$angry), 0, posts$angry) - posts$code)
  means <- tapply(whole, posts$condition, mean)
  found <- of("marginal_means")
  expect_equal(found$estimate[found$method == "corrected"], as.vector(means))
  expect_equal(found$term[found$method == "corrected"], c("condition: a", "condition: b"))
  ratios <- subset(of("impact_ratio"), method == "corrected")
  expect_equal(ratios$estimate, c(means[["a"]] / means[["b"]], means[["b"]] / means[["a"]]))
  expect_true(all(ratios$conf_low < ratios$estimate & ratios$estimate < ratios$conf_high))
})

test_that("a mixed model is debiased, with errors of samples of clusters", {
  posts <- coded_posts(800)
  fit <- suppressMessages(fit_dsl(
    posts, "angry ~ condition + (1 | name)", list(angry = "code"), levels = list(condition = c("a", "b")), draws = 20
  ))
  expect_match(fit$fits$optimiser, "predict then debias (lme4), 20 samples of 8 clusters", fixed = TRUE)
  errors <- matrix(fit$tables$corrections$std_error, 2)
  expect_true(all(errors[, 3] <= errors[, 2]))
  of_all <- lme4::fixef(suppressMessages(lme4::lmer(code ~ relevel(factor(condition), "a") + (1 | name), posts)))
  expect_equal(fit$tables$corrections$estimate[1:2], unname(of_all), tolerance = 1e-4)
  perfect <- suppressMessages(fit_dsl(transform(posts, code = truth), "angry ~ condition + (1 | name)",
                                      list(angry = "code"), levels = list(condition = c("a", "b")), draws = 20))
  of_truth <- lme4::fixef(suppressMessages(lme4::lmer(truth ~ condition + (1 | name), posts)))
  expect_equal(perfect$estimates$estimate, unname(of_truth), tolerance = .05)
})

test_that("what can't be corrected is a sentence", {
  posts <- coded_posts()
  failure <- function(rows, ...) {
    fit <- suppressMessages(fit_dsl(rows, "angry ~ name", list(angry = "code"), ...))
    expect_equal(nrow(fit$estimates), 0)
    fit$fits$error
  }
  few <- posts
  few$angry[which(!is.na(few$angry))[-(1:12)]] <- NA
  expect_match(failure(few), "People have coded 12 texts here, and intervals hold from 40")
  expect_match(failure(transform(posts, angry = ifelse(is.na(angry), NA, 1))), "one code")
  expect_match(failure(transform(posts, drawn = 0), probability = "drawn"), "must be above 0")
  expect_error(fit_dsl(transform(posts, angry = "yes"), "angry ~ 1", list(angry = "code")), "must be numbers")
  expect_error(fit_dsl(posts, "truth ~ 1", list(angry = "code")), "the formula doesn't have")
  unknown <- transform(posts, drawn = replace(drawn, 5, NA))
  expect_error(fit_dsl(unknown, "angry ~ 1", list(angry = "code"), probability = "drawn"), "must be known of each")
  expect_error(fit_dsl(posts, "angry ~ 1", list(angry = "code"), labels = -5), "whole numbers of texts")
  expect_match(failure(posts, estimator = "impact_ratio"), "linear and by attributes")
  mixed <- suppressMessages(fit_dsl(posts, "angry ~ 1 + (1 | name)", list(angry = "code"), labels = 100))
  expect_match(mixed$fits$error, "without `labels`")
  expect_error(fit_ppi(posts, "truth ~ angry", list(angry = "code")), "fit_dsl")
})

applications <- function() {
  posts <- coded_posts(800)
  posts$job <- with_seed(3, sample(c("clerk", "judge", "nurse"), nrow(posts), TRUE))
  posts$degree <- with_seed(4, sample(c("none", "school", "doctor"), nrow(posts), TRUE))
  posts$group <- with_seed(5, sample(50, nrow(posts), TRUE))
  posts[posts$job != "judge" | posts$degree != "none", ]
}

test_that("an AMCE averages over the combinations that both levels were shown in, as amce() of corrected codes does", {
  posts <- applications()
  levels <- list(condition = c("a", "b"), job = c("clerk", "judge", "nurse"), degree = c("none", "school", "doctor"))
  amces <- function(outcome, rows = posts, ...) {
    amce(rows, outcome, names(levels), levels = levels, linked = "job:degree", ...)$estimates
  }
  fitted <- function(fit, ...) {
    fit(posts, "angry ~ condition + job * degree", list(angry = "code"), levels = levels, estimator = "amce", ...)
  }
  weight <- ifelse(is.na(posts$angry), 0, 1 / posts$drawn)
  posts$whole <- posts$code + weight * (ifelse(is.na(posts$angry), 0, posts$angry) - posts$code)
  found <- fitted(fit_dsl, probability = "drawn", prediction = "code", cluster = "group")$estimates
  wanted <- amces("whole", cluster = "group")
  at <- match(found$term, wanted$term)
  expect_equal(found$estimate, wanted$estimate[at], tolerance = 1e-12)
  n <- nrow(posts)
  expect_equal(found$std_error, wanted$std_error[at] / sqrt((n - 1) / (n - 9)), tolerance = 1e-10)
  of_people <- amces("angry", posts[!is.na(posts$angry), ])
  alone <- fitted(fit_ppi, lambda = 0)$estimates
  expect_equal(alone$estimate, of_people$estimate[match(alone$term, of_people$term)], tolerance = 1e-10)
  posts$code <- posts$truth
  perfect <- fitted(fit_dsl, cluster = "group")$estimates
  expect_equal(perfect$estimate, amces("truth")$estimate[at], tolerance = 1e-10)
})

test_that("prediction-powered errors over clusters are of their sums, and unequal probabilities are refused", {
  posts <- coded_posts(800)
  posts$group <- rep(1:50, 16)
  fit <- function(rows, ...) suppressMessages(fit_ppi(rows, "angry ~ 1", list(angry = "code"), lambda = .5, ...))
  is_coded <- !is.na(posts$angry)
  moves <- ifelse(is_coded, ifelse(is_coded, posts$angry, 0) - .5 * posts$code, .5 * posts$code)
  moves <- stats::ave(moves, is_coded, FUN = function(own) (own - mean(own)) / length(own))
  by_hand <- sqrt(50 / 49 * sum(rowsum(moves, posts$group)^2))
  over <- fit(posts, cluster = "group")$estimates
  expect_equal(over$std_error, by_hand)
  expect_equal(c(over$estimate, over$df), c(fit(posts)$estimates$estimate, 49))
  alone <- fit(posts, cluster = "name") # eight of them: a jackknife
  expect_match(paste(alone$messages$text, collapse = " "), "8 clusters are fewer than 40")
  expect_match(fit(posts, probability = "drawn")$fits$error, "probabilities from 0.25 to 0.5")
})

test_that("AMCEs are refused in a sentence where they can't be averaged", {
  posts <- applications()
  error <- function(formula, rows = posts) {
    levels <- list(condition = c("a", "b"), job = c("clerk", "judge", "nurse"), degree = c("none", "school", "doctor"))
    suppressMessages(fit_dsl(rows, formula, list(angry = "code"), levels = levels, estimator = "amce"))$fits$error
  }
  expect_match(error("angry ~ condition * job * degree"), "an interaction must be of two")
  unseen <- transform(posts, angry = ifelse(job == "nurse" & degree == "none", NA, angry))
  expect_match(error("angry ~ condition + job * degree", unseen), 'no text of job and degree = "nurse, none"')
  expect_match(error("angry ~ 1"), "linear and by attributes")
})

test_that("combinations that were never shown are said, for the coefficients are then no AMCEs", {
  posts <- coded_posts()
  posts$job <- with_seed(3, sample(c("clerk", "judge"), nrow(posts), TRUE))
  said <- function(rows) {
    levels <- list(condition = c("a", "b"), job = c("clerk", "judge"))
    fitted <- fit_dsl(rows, "angry ~ condition + job", list(angry = "code"), levels = levels)
    paste(fitted$messages$text, collapse = "\n")
  }
  never <- "Some combinations of condition and job were never shown"
  expect_no_match(said(posts), never)
  expect_match(said(posts[!(posts$condition == "b" & posts$job == "judge"), ]), never)
})
