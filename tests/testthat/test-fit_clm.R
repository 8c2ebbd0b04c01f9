worded <- function() transform(wine(), rating = as.character(rating))

test_that("a cumulative model of the wine ratings prints what ordinal's vignette prints", {
  fit <- fit_clm(worded(), "rating ~ temp + contact", levels = c(list(rating = as.character(1:5)), wine_levels))
  expect_equal(fit$estimates$term, c("1|2", "2|3", "3|4", "4|5", "tempwarm", "contactyes"))
  expect_equal(round(fit$estimates$estimate[5:6], 4), c(2.5031, 1.5278))
  expect_equal(round(fit$fits$log_lik, 5), -86.49192)
  expect_identical(fit_clm(wine(), "rating ~ temp + contact", levels = wine_levels)$estimates, fit$estimates)
})

test_that("its likelihood ratio tests are those of ordinal", {
  fit <- fit_clm(wine(), "rating ~ temp + contact", levels = wine_levels)
  direct <- ordinal::clm(rating ~ temp + contact, data = ordinal::wine)
  expect_equal(fit$tables$tests$p_value[-1], stats::drop1(direct, test = "Chisq")$`Pr(>Chi)`[-1], tolerance = 1e-5)
  null <- ordinal::clm(rating ~ 1, data = ordinal::wine)
  expect_equal(fit$tables$tests$chi_squared[[1]], as.numeric(2 * (logLik(direct) - logLik(null))), tolerance = 1e-6)
})

test_that("over forty clusters or more its standard errors are those of sandwich", {
  skip_if_not_installed("sandwich")
  fit <- fit_clm(wine(), "rating ~ temp + contact", levels = wine_levels, cluster = "judge:bottle")
  direct <- ordinal::clm(rating ~ temp + contact, data = ordinal::wine)
  robust <- sandwich::vcovCL(direct, seq_len(72), type = "HC0", cadjust = TRUE)
  expect_equal(fit$tables$clustered$std_error, unname(sqrt(diag(robust))), tolerance = 1e-6)
  expect_equal(unique(fit$tables$clustered[c("df", "method", "n_clusters")]), data.frame(
    df = 71, method = "robust", n_clusters = 72L
  ))
})

test_that("what a level does to each point adds up to 0, is the difference of predictions, with its gradient's error", {
  model <- fit_clm(wine(), "rating ~ temp + contact", levels = wine_levels)
  warm <- subset(model$tables$categories, attribute == "temp")
  expect_equal(sum(warm$estimate), 0)
  direct <- ordinal::clm(rating ~ temp + contact, data = ordinal::wine)
  at <- function(level) {
    rows <- transform(ordinal::wine[c("temp", "contact")], temp = factor(level, c("cold", "warm")))
    colMeans(predict(direct, rows, type = "prob")$fit)
  }
  expect_equal(warm$estimate, unname(at("warm") - at("cold")), tolerance = 1e-6)
  direct <- model$models[[1]]
  x <- cbind(tempwarm = 1, contactyes = as.integer(wine()$contact == "yes"))
  at <- function(parameters) {
    alpha <- parameters[1:4]
    share <- function(x) mean(plogis(alpha[[2]] - x %*% parameters[5:6]) - plogis(alpha[[1]] - x %*% parameters[5:6]))
    share(x) - share(replace(x, cbind(seq_len(nrow(x)), 1), 0))
  }
  gradient <- vapply(1:6, function(k) {
    step <- replace(double(6), k, 1e-5)
    (at(coef(direct) + step) - at(coef(direct) - step)) / 2e-5
  }, 1)
  by_hand <- sqrt(drop(gradient %*% vcov(direct) %*% gradient))
  expect_equal(model$tables$categories$std_error[[2]], by_hand, tolerance = 1e-4)
})

test_that("points that nobody gave are left out, and said; text without its points is a sentence", {
  data <- transform(wine(), rating = ifelse(rating == 2, 1L, rating))
  fit <- fit_clm(data, "rating ~ temp", levels = wine_levels["temp"])
  expect_match(fit$messages$text, "never given are left out of its scale: 2", all = FALSE)
  listed <- fit_clm(transform(data, rating = as.character(rating)), "rating ~ temp",
                    levels = c(list(rating = as.character(1:7)), wine_levels["temp"]))
  expect_match(listed$messages$text, "its scale: 2, 6, 7", all = FALSE)
  expect_equal(listed$estimates$estimate, fit$estimates$estimate)
  text <- fit_clm(worded(), "rating ~ temp", levels = wine_levels["temp"])
  expect_match(text$fits$error, "is text and needs the list of its points, the lowest first")
  same <- fit_clm(transform(data, rating = 4L), "rating ~ temp", levels = wine_levels["temp"])
  expect_match(same$fits$error, "is 4 in all 72 rows")
  expect_match(fit_clm(transform(data, rating = seq_len(72)), "rating ~ temp", levels = wine_levels["temp"])$fits$error,
               "72 different values")
})

test_that("a level at which all ratings are the same is warned of", {
  data <- transform(wine(), rating = ifelse(temp == "warm", 5L, pmin(rating, 4L)))
  fit <- fit_clm(data, "rating ~ temp + contact", levels = wine_levels)
  expect_equal(fit$fits$status, "warned")
  expect_match(fit$messages$text, "All ratings of temp \"warm\" are 5", all = FALSE)
})

test_that("a random effect, a predictor that is another one's double and a missing package are sentences", {
  data <- wine()
  expect_error(fit_clm(data, "rating ~ temp + (1 | judge)", levels = wine_levels["temp"]), "the engine is clmm")
  again <- transform(data, again = temp)
  double <- fit_clm(again, "rating ~ temp + again", levels = list(temp = c("cold", "warm"), again = c("cold", "warm")))
  expect_match(double$fits$error, "\"againwarm\" does not vary apart from the others")
})

test_that("nine attributes of 14,060 published ratings come to the likelihood and thresholds that were kept", {
  skip_if_not_installed("ordinal")
  people <- immigration()
  formula <- paste("rating ~", paste(people$attributes, collapse = " + "))
  rows <- people$profiles[!is.na(people$profiles$rating), ]
  factors <- with_factors(rows, character(), people$levels)
  factors$rating <- rated_points(factors$rating, "rating")
  estimates <- cumulative_model(NULL)$effects(cumulative_fit(checked_formula(formula, names(factors)), factors))
  expected <- people$table("models.csv")
  wanted <- expected[grepl("clm\\(rating ~ nine", expected$model), ]
  expect_equal(nrow(wanted), 47)
  found <- estimates[match(wanted$term, estimates$term), ]
  expect_lt(max(abs(found$estimate - wanted$estimate), abs(found$std_error - wanted$se)), 6e-6)
})

test_that("over few judges errors are a jackknife, and p of each term is that of the F beside it", {
  fit <- fit_clm(wine(), "rating ~ temp + contact", levels = wine_levels, cluster = "judge")
  rows <- wine()
  without <- vapply(unique(as.character(rows$judge)), function(one) {
    stats::coef(ordinal::clm(factor(rating) ~ temp + contact, data = subset(rows, judge != one)))[["tempwarm"]]
  }, 1)
  by_hand <- sqrt(8 / 9 * sum((without - fit$estimates$estimate[[5]])^2))
  expect_equal(fit$estimates$std_error[[5]], by_hand, tolerance = 1e-5)
  expect_equal(unique(fit$tables$clustered$method), "jackknife")
  expect_match(fit$messages$text, "9 clusters (\"judge\") are fewer than 40", fixed = TRUE, all = FALSE)
  tests <- fit$tables$tests
  expect_equal(tests$p_value, stats::pf(tests$f_value, tests$df, tests$df_residual, lower.tail = FALSE))
  expect_true(all(is.na(tests$chi_squared)))
  expect_equal(tests$p_value_rows, stats::pchisq(tests$chi_squared_rows, tests$df, lower.tail = FALSE))
})

test_that("without a cluster, errors are over what the study declares, and copies change none of them", {
  rows <- transform(wine(), bottle = as.character(bottle), warm = as.integer(rating > 3))
  five <- rows[rep(seq_len(nrow(rows)), 5), ]
  prompts <- list(prompt = c("judge", "bottle"))
  engines <- list(clm = "rating ~ temp + contact", logistic = "warm ~ temp + contact", lm = "rating ~ temp + contact")
  for (engine in names(engines)) {
    of <- function(data, declared) {
      arguments <- list(formula = engines[[engine]], levels = wine_levels, declared = declared)
      run_fit(engine, data, arguments)
    }
    once <- of(rows, prompts)
    copies <- of(five, prompts)
    expect_equal(copies$estimates, once$estimates, info = engine)
    expect_equal(copies$tables$tests, once$tables$tests, info = engine)
    expect_equal(unique(once$tables$clustered$clusters), "prompt", info = engine)
    expect_match(copies$messages$text, "each prompt counts once", all = FALSE, info = engine)
    property <- of(five, c(prompts, list(properties = list(temp = "judge"))))
    expect_equal(unique(property$tables$clustered$clusters), "judge", info = engine)
    expect_match(property$fits$optimiser, "temp is a property of judge", info = engine)
  }
})
