audit <- function() {
  withr::local_seed(7)
  data <- expand.grid(item = 1:15, race = c("white", "black", "asian", "latino"), sex = c("f", "m"))
  data$value <- round(50 + 4 * (data$race == "black") + rnorm(nrow(data), sd = 8), 1)
  data$hired <- rbinom(nrow(data), 1, ifelse(data$race == "asian", .7, .4))
  transform(data, race = as.character(race), sex = as.character(sex))
}
lists <- list(race = c("white", "black", "asian", "latino"), sex = c("f", "m"))
as_r <- function(data) transform(data, race = factor(race, lists$race), sex = factor(sex, lists$sex))

test_that("four groups without a random effect are R's lm, with its F test", {
  found <- fit_lm(audit(), "value ~ race", levels = lists["race"])
  direct <- lm(value ~ race, as_r(audit()))
  expect_equal(found$estimates$term, c("intercept", "raceblack", "raceasian", "racelatino"))
  expect_equal(found$estimates$estimate, unname(coef(direct)))
  expect_equal(as.matrix(found$estimates[c("conf_low", "conf_high")]), confint(direct), ignore_attr = TRUE)
  tests <- found$tables$tests
  expect_equal(tests[c("f_value", "df", "df_residual", "p_value")], as.data.frame(anova(direct))[1, ] |>
    with(data.frame(f_value = `F value`, df = Df, df_residual = 116, p_value = `Pr(>F)`)))
  expect_equal(tests$eta_squared, summary(direct)$r.squared)
  expect_equal(found$variances$variance, summary(direct)$sigma^2)
  expect_match(found$fits$messages, "Rows are taken as independent", fixed = TRUE)
  over_items <- fit_lm(audit(), "value ~ race", levels = lists["race"], cluster = "item")
  expect_no_match(over_items$fits$messages, "taken as independent", fixed = TRUE)
})

test_that("of several factors each term has a test of its own, against the model without it", {
  data <- audit()
  linear <- fit_lm(data, "value ~ race + sex", levels = lists)$tables$tests
  expect_equal(linear$term, c("all", "race", "sex"))
  expect_equal(linear$p_value[-1], drop1(lm(value ~ race + sex, as_r(data)), test = "F")$`Pr(>F)`[-1])
  logistic <- fit_logistic(data, "hired ~ race * sex", levels = lists)$tables$tests
  expect_equal(logistic$term, c("all", "race:sex"))
  direct <- drop1(glm(hired ~ race * sex, binomial, as_r(data)), test = "Chisq")
  expect_equal(logistic$p_value[[2]], direct$`Pr(>Chi)`[[2]])
})

test_that("standard errors over 40 clusters or more are those of Stata, HC1 of sandwich", {
  skip_if_not_installed("sandwich")
  data <- rbind(audit(), transform(audit(), item = item + 15), transform(audit(), item = item + 30))
  data$value <- data$value + sin(seq_len(nrow(data)))
  model <- lm(value ~ race, as_r(data))
  clustered <- fit_lm(data, "value ~ race", levels = lists["race"], cluster = "item")$tables$clustered
  robust <- sandwich::vcovCL(model, data$item, type = "HC1", cadjust = TRUE)
  expect_equal(clustered$std_error, unname(sqrt(diag(robust))))
  expect_equal(unique(clustered[c("df", "method")]), data.frame(df = 44, method = "HC1"))
  choice <- glm(hired ~ race, binomial, as_r(data))
  clustered <- fit_logistic(data, "hired ~ race", levels = lists["race"], cluster = "item")$tables$clustered
  robust <- sandwich::vcovCL(choice, data$item, type = "HC1", cadjust = TRUE)
  expect_equal(clustered$std_error, unname(sqrt(diag(robust))))
})

test_that("of fewer clusters they are bias-reduced, with Satterthwaite's degrees of freedom", {
  skip_if_not_installed("clubSandwich")
  data <- audit()
  clustered <- fit_lm(data, "value ~ race", levels = lists["race"], cluster = "item")$tables$clustered
  direct <- clubSandwich::coef_test(lm(value ~ race, as_r(data)), "CR2", cluster = data$item)
  expect_equal(clustered[c("std_error", "df")], data.frame(std_error = direct$SE, df = direct$df_Satt))
  expect_equal(unique(clustered$method), "CR2")
  two <- fit_lm(data, "value ~ race", levels = lists["race"], cluster = c("item", "sex:item"))$tables$clustered
  expect_equal(unique(two$method), "two ways")
})

test_that("clusters too large for that are said to have errors that are too small", {
  data <- do.call(rbind, rep(list(audit()), 10))
  data$value <- data$value + sin(seq_len(nrow(data)))
  data$half <- data$item %% 3
  data <- do.call(rbind, rep(list(data), 3))
  fit <- fit_lm(data, "value ~ race", levels = lists["race"], cluster = "half")
  expect_match(fit$messages$text, "3 clusters \\(\"half\"\\) are fewer than 40.*more than 1,000 rows", all = FALSE)
  expect_equal(unique(fit$tables$clustered$method), "HC1")
})

test_that("a coefficient that one cluster alone decides, or that is separated, has no error over clusters", {
  data <- transform(audit(), name = rep(letters[1:8], length.out = 120), points = 1 + seq_len(120) %% 4)
  data$sex <- ifelse(data$name == "a", "m", "f")
  fits <- list(value = fit_lm, hired = fit_logistic, points = fit_clm)
  for (outcome in names(fits)) {
    found <- fits[[outcome]](data, paste(outcome, "~ sex + race"), levels = lists, cluster = "name")
    expect_match(found$messages$text, "One \"name\" alone decides .*\"sexm\", which", all = FALSE)
    expect_equal(found$estimates$term[is.na(found$estimates$std_error)], "sexm")
    expect_equal(is.na(found$tables$tests$p_value), c(TRUE, TRUE, FALSE))
  }
  hired <- transform(data, hired = ifelse(race == "black", 1L, hired))
  separated <- fit_logistic(hired, "hired ~ race", levels = lists["race"], cluster = "name")$estimates
  expect_equal(separated$term[is.na(separated$p_value)], "raceblack")
  alike <- transform(data, value = 15000 + 1000 * (race == "black") + .1 * (item %% 3 - 1))
  alike <- fit_lm(rbind(alike, transform(alike, value = 2 * 15000 + 2000 * (race == "black") - value)), "value ~ race",
    levels = lists["race"], cluster = "name"
  )$estimates
  expect_equal(alike$estimate, c(15000, 1000, 0, 0))
  expect_true(all(is.na(alike$std_error))) # what rounding leaves
  of_name <- list(properties = list(sex = "name"), prompt = "item")
  by_prompt <- fit_lm(data, "value ~ sex", levels = lists["sex"], declared = of_name)
  expect_match(by_prompt$messages$text, "A level of \"sex\" belongs to one \"name\" only", all = FALSE)
  expect_equal(unique(by_prompt$tables$clustered$clusters), "prompt")
})

test_that("a group without a single refusal is said to have no finite log odds", {
  data <- transform(audit(), hired = ifelse(race == "black", 1L, hired))
  found <- fit_logistic(data, "hired ~ race", levels = lists["race"])
  expect_equal(found$fits$status, "warned")
  said <- "Quasi-complete separation by \"race\": \"hired\" .* in 30 of 120 rows; .*\"raceblack\""
  expect_match(found$messages$text, said, all = FALSE)
  expect_true(found$tables$tests$p_value < .001)
})

test_that("what can't be fitted is one sentence", {
  data <- audit()
  expect_error(fit_lm(transform(data, race = "a"), "value ~ race"), "\"race\" needs at least two different levels")
  expect_error(fit_lm(data, "value ~ race + (1 | item)", levels = lists["race"]), "the engine is lme4")
  expect_error(fit_lme4(data, "value ~ race", levels = lists["race"]), "the engines are \"lm\"")
  flat <- fit_lm(transform(data, value = match(race, lists$race)), "value ~ race", levels = lists["race"])
  expect_match(flat$fits$error, "does not vary within")
  few <- fit_lm(data[c(1, 16, 31, 46), ], "value ~ race", levels = lists["race"])
  expect_match(few$fits$error, "does not vary|as many")
})
