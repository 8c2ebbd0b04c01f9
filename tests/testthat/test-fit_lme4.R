test_that("a fit has the numbers of lmerTest called directly, with an optimiser that stops late", {
  trials <- made_trials()
  fit <- fit_made(trials)
  trials$condition <- factor(trials$condition, levels = conditions)
  trials$wording <- factor(trials$wording)
  model <- lmerTest::lmer(tokens ~ condition + (1 | wording), data = trials, control = sharp)
  table <- coef(summary(model))

  expect_equal(fit$estimates$term, c("intercept", "conditionincompatible"))
  expect_equal(fit$estimates$estimate, unname(table[, "Estimate"]), tolerance = 1e-6)
  expect_equal(fit$estimates$std_error, unname(table[, "Std. Error"]), tolerance = 1e-6)
  expect_equal(fit$estimates$df, unname(table[, "df"]), tolerance = 1e-6)
  expect_equal(fit$estimates$statistic, unname(table[, "t value"]), tolerance = 1e-6)
  expect_equal(fit$estimates$p_value, unname(table[, "Pr(>|t|)"]), tolerance = 1e-6)
  half_width <- qt(.975, fit$estimates$df) * fit$estimates$std_error
  expect_equal(fit$estimates$conf_low, fit$estimates$estimate - half_width)
  expect_equal(fit$estimates$conf_high, fit$estimates$estimate + half_width)
  expect_equal(fit$fits$log_lik, as.numeric(logLik(model)), tolerance = 1e-6)
  expect_equal(fit$fits$aic, AIC(model), tolerance = 1e-6)
  expect_equal(fit$fits$bic, BIC(model), tolerance = 1e-6)
  expect_equal(fit$variances$variance, as.data.frame(lme4::VarCorr(model))$vcov, tolerance = 1e-6)
})

test_that("the tables have their fixed columns, whatever the groups", {
  trials <- transform(made_trials(), model = "o3-mini", test = "flowers_insects")
  fit <- fit_made(trials, by = c("model", "test"))
  expect_named(fit, c("estimates", "fits", "variances", "messages", "models", "versions"))
  expect_named(fit$estimates, c(
    "model", "test", "term", "estimate", "std_error", "df", "statistic", "p_value", "conf_low", "conf_high"
  ))
  expect_named(fit$fits, c(
    "model", "test", "status", "n", "n_missing", "n_groups", "log_lik", "aic", "bic", "singular", "optimiser",
    "messages", "error"
  ))
  expect_named(fit$variances, c("model", "test", "group", "term", "variance", "n_groups"))
  expect_named(fit$messages, c("model", "test", "kind", "text"))
})

test_that("the reference level depends neither on the order of rows nor on R's contrasts", {
  trials <- made_trials()
  straight <- fit_made(trials)
  withr::local_options(contrasts = c("contr.sum", "contr.poly"))
  turned <- fit_made(trials[rev(seq_len(nrow(trials))), ])
  expect_equal(turned$estimates, straight$estimates, tolerance = 1e-6)
})

test_that("a fixed effect that groups, too, keeps its reference level", {
  reversed <- list(condition = rev(conditions))
  for (formula in c("tokens ~ condition + (1 | wording:condition)", "tokens ~ condition + (1 | wording/condition)")) {
    found <- fit_lme4(made_trials(), formula, levels = reversed)$estimates
    expect_equal(found$term[[2]], "conditioncompatible")
    expect_lt(found$estimate[[2]], -20)
  }
})

test_that("logical columns and random slopes are coded alike whatever R's contrasts are", {
  trials <- transform(made_trials(), is_even = item %% 2 == 0)
  fit <- function(formula) fit_lme4(trials, formula, levels = list(condition = conditions))
  formulas <- c("tokens ~ condition * is_even + (1 | wording)", "tokens ~ 1 + (condition | wording)")
  straight <- lapply(formulas, fit)
  withr::local_options(contrasts = c("contr.sum", "contr.poly"))
  turned <- lapply(formulas, fit)
  expect_identical(lapply(turned, `[[`, "estimates"), lapply(straight, `[[`, "estimates"))
  expect_identical(turned[[2]]$variances, straight[[2]]$variances)
  expect_true("conditionincompatible:is_evenTRUE" %in% straight[[1]]$estimates$term)
})

test_that("rows of several sources in one group are a warning, unless they are told apart", {
  trials <- rbind(transform(made_trials(), source = "simulated"), transform(made_trials(seed = 2), source = "imported"))
  together <- fit_made(trials)
  expect_equal(together$fits$status, "warned")
  expect_equal(together$messages$text, "Rows of more than one source are put together: imported, simulated.")
  expect_equal(effect_size(trials)$fits$status, "warned")
  expect_equal(fit_made(trials, by = "source")$fits$status, c("ok", "ok"))
  expect_equal(effect_size(trials, contrast = "source", levels = c("simulated", "imported"))$fits$status, "ok")
})

test_that("several measures of tokens in one group are a warning", {
  trials <- transform(made_trials(), token_source = ifelse(item == 1, "output", "usage"))
  expect_match(fit_made(trials)$fits$messages, "more than one token_source are put together: output, usage")
})

test_that("answers in different units in one group are a warning, unless the question is told apart", {
  asked <- function(question, low, high, kind = "scale") {
    transform(made_trials(), rating = tokens, question = question, kind = kind, low = low, high = high)
  }
  said <- function(other, formula = "rating ~ condition + (1 | wording)", ...) {
    levels <- list(condition = c("compatible", "incompatible"))
    fit_lme4(rbind(asked("fit", 1, 7), other), formula, levels = levels, ...)$messages$text
  }
  expect_match(said(asked("trust", 0, 10)), "different units are analysed together: fit (1 to 7), trust (0 to 10).",
    fixed = TRUE, all = FALSE
  )
  expect_match(said(asked("pay", NA, NA, "number")), "pay (a number)", fixed = TRUE, all = FALSE)
  expect_false(any(grepl("units", said(asked("trust", 1, 7)))))
  expect_false(any(grepl("units", said(asked("trust", 0, 10), by = "question"))))
})

test_that("a boundary fit is kept and flagged", {
  trials <- made_trials()
  trials$tokens <- trials$tokens[trials$wording == 1][match(
    paste(trials$item, trials$condition), paste(trials$item, trials$condition)[trials$wording == 1]
  )]
  fit <- fit_made(trials)
  expect_equal(fit$fits$status, "singular")
  expect_true(fit$fits$singular)
  expect_match(fit$fits$messages, "singular")
  expect_equal(fit$messages$kind, "message")
  expect_equal(fit$variances$variance[[1]], 0)
  expect_equal(nrow(fit$estimates), 2)
})

test_that("one group that fails is one row that says why, and leaves the others", {
  good <- transform(made_trials(), model = "good")
  bad <- transform(made_trials(), model = "bad")
  fit <- fit_made(rbind(good, subset(bad, condition == "compatible")), by = "model")
  expect_equal(fit$fits$model, c("good", "bad"))
  expect_equal(fit$fits$status, c("ok", "failed"))
  expect_match(fit$fits$error[[2]], "must hold its reference level \"compatible\" and another one")
  expect_equal(unique(fit$estimates$model), "good")
  expect_equal(fit$messages$kind, "error")
})

test_that("groups are told apart by value, not by how they would read", {
  made <- function(a, b) transform(made_trials(), a = a, b = b)
  trials <- rbind(made("x / y", "z"), made("x", "y / z"), made(NA, "z"), made("NA", "z"))
  file <- withr::local_tempfile(fileext = ".rds")
  fits <- fit_made(trials, by = c("a", "b"), save_to = file)$fits
  expect_equal(fits$n, rep(240, 4))
  expect_equal(fits$a, c("x / y", "x", NA, "NA"))
  expect_equal(anyDuplicated(names(readRDS(file))), 0)
})

test_that("rows without tokens are dropped and counted", {
  trials <- made_trials()
  trials$tokens[c(3, 7, 9)] <- NA
  fit <- fit_made(trials)
  expect_equal(fit$fits$n, nrow(trials) - 3)
  expect_equal(fit$fits$n_missing, 3)
  expect_equal(fit$fits$status, "ok")
  expect_equal(fit$fits$messages, "3 rows without tokens left out.")
  expect_equal(fit$messages$kind, "message")
  without <- fit_made(trials[-c(3, 7, 9), ])
  expect_identical(fit[c("estimates", "variances")], without[c("estimates", "variances")])
})

test_that("a group that can't be fitted says so in one sentence", {
  trials <- made_trials()
  why <- function(trials) fit_made(trials)$fits$error
  expect_equal(why(trials[0, ]), "There are no rows.")
  expect_match(why(transform(trials, tokens = NA_real_)), "No rows are left: all 240 have a missing value")
  expect_match(why(transform(trials, tokens = 64)), "is 64 in all 240 rows: there is nothing to explain")
  expect_match(why(transform(trials, tokens = "64")), "must be a number")
  expect_match(why(transform(trials, tokens = Inf)), "not finite")
  expect_match(why(transform(trials, condition = "neutral")), "holds \"neutral\", which is not among its levels")
  expect_equal(why(subset(trials, wording == 1)), paste(
    "The random effect (1 | wording) needs two or more levels, but has one.",
    "All 24 rows have wording = 1. Fit a formula without it.", sep = "\n  "
  ))
  expect_equal(fit_made(subset(trials, condition == "compatible"))$messages$kind, "error")
})

test_that("no rows in no groups are empty tables with all columns", {
  trials <- transform(made_trials(), model = "o3-mini")[0, ]
  fit <- fit_made(trials, by = "model")
  expect_equal(unname(vapply(fit[1:4], nrow, 1L)), c(0, 0, 0, 0))
  expect_named(fit$messages, c("model", "kind", "text"))
})

test_that("wrong arguments are refused before anything is fitted", {
  trials <- made_trials()
  expect_snapshot({
    write_error(fit_lme4(trials, "tokens ~ conditoin + (1 | wording)"))
    write_error(fit_lme4(trials, "tokens ~ condition", levels = list(condition = conditions)))
    write_error(fit_lme4(trials, "tokens ~ condition + (1 | wording)", levels = list(condition = "compatible")))
    write_error(fit_made(trials, by = "modle"))
    write_error(fit_made(transform(trials, group = "Flowers"), by = "group"))
    write_error(fit_made(list(tokens = 1)))
  })
})

test_that("a grouping variable may be numbers, text or a factor", {
  trials <- made_trials()
  as_numbers <- fit_made(trials)$estimates
  as_text <- fit_made(transform(trials, wording = sprintf("%02d", wording)))$estimates
  as_factor <- fit_made(transform(trials, wording = factor(wording, levels = 10:1)))$estimates
  expect_equal(as_text, as_numbers)
  expect_equal(as_factor, as_numbers, tolerance = 1e-6)
})

test_that("several random effects each have their variances", {
  fit <- fit_lme4(made_trials(), "log(tokens) ~ condition + (1 | wording) + (1 | item)",
    levels = list(condition = conditions)
  )
  expect_setequal(fit$variances$group, c("wording", "item", "residual"))
  expect_equal(fit$variances$n_groups[fit$variances$group == "item"], 12)
})

test_that("fitted models are saved for R users who ask", {
  file <- withr::local_tempfile(fileext = ".rds")
  fit <- fit_made(transform(made_trials(), model = "o3-mini"), by = "model", save_to = file)
  models <- readRDS(file)
  expect_named(models, "o3-mini")
  expect_identical(unname(lme4::fixef(models[["o3-mini"]])), fit$estimates$estimate)
})

test_that("an outcome that is one number in each condition is no fit but a sentence", {
  rows <- expand.grid(wording = 1:6, condition = c("a", "b"), again = 1:3, stringsAsFactors = FALSE)
  rows$tokens <- ifelse(rows$condition == "a", 100, 200)
  rows$item <- rows$again
  sentence <- "does not vary within the conditions"
  fit <- fit_lme4(rows, "tokens ~ condition + (1 | wording)", levels = list(condition = c("a", "b")))
  expect_match(fit$fits$error, sentence, fixed = TRUE)
  expect_equal(nrow(fit$estimates), 0L)
  expect_match(fit_crossed(rows, levels = c("a", "b"))$fits$error, sentence, fixed = TRUE)
  rows$tokens[[1]] <- 101
  varying <- fit_lme4(rows, "tokens ~ condition + (1 | wording)", levels = list(condition = c("a", "b")))
  expect_equal(varying$fits$error, "")
})

# Ratings of names with a gender, in jobs; `name_sd = 0`: means of names are equal, so that their variance is 0.
ratings_of_names <- function(seed, n_names = 12, name_sd = 0) {
  rows <- expand.grid(copy = 1:4, job = c("clerk", "cook", "nurse"), name = sprintf("n%02d", seq_len(n_names)),
                      stringsAsFactors = FALSE)
  number <- match(rows$name, unique(rows$name))
  rows$gender <- c("man", "woman")[1 + number %% 2]
  withr::with_seed(seed, {
    rows$rating <- 4 + stats::rnorm(n_names, 0, name_sd)[number] + stats::rnorm(nrow(rows))
    if (name_sd == 0) rows$rating <- 4 + rows$rating - stats::ave(rows$rating, rows$name)
    rows
  })
}

of_names <- list(gender = c("woman", "man"), job = c("clerk", "cook", "nurse"))

test_that("a gender over 12 names has 10 degrees of freedom, whether names vary or have a variance of 0", {
  fit_of <- function(rows, ...) fit_lme4(rows, "rating ~ gender * job + (1 | name)", levels = of_names, ...)
  none <- fit_of(ratings_of_names(1))
  expect_equal(none$variances$variance[[1]], 0)
  by_coefficient <- none$estimates$df[none$estimates$term %in% c("intercept", "genderman")]
  expect_equal(by_coefficient, c(10, 10), tolerance = 1e-6)
  expect_match(none$fits$optimiser, "Kenward-Roger")
  expect_gt(fit_of(ratings_of_names(1), df_method = "satterthwaite")$estimates$df[[2]], 100)
  varying <- fit_of(ratings_of_names(2, name_sd = 1))
  expect_equal(varying$estimates$df[[2]], 10, tolerance = 1e-6)
})

test_that("correlated slopes have pbkrtest's standard errors, and degrees of freedom of the templates at most", {
  skip_if_not_installed("pbkrtest")
  rows <- ratings_of_names(3, name_sd = .5)[-(1:9), ]
  rows$template <- sprintf("t%d", 1 + rows$copy %% 4)
  fit <- fit_lme4(rows, "rating ~ gender + (gender | template) + (1 | name)", levels = of_names["gender"])
  theirs <- as.matrix(pbkrtest::vcovAdj(fit$models[[1]]))
  expect_equal(fit$estimates$std_error, unname(sqrt(diag(theirs))), tolerance = 1e-4)
  expect_lte(max(fit$estimates$df), 3)
})

test_that("what varies within clusters alone keeps lmerTest's degrees of freedom", {
  fit <- fit_lme4(ratings_of_names(4, name_sd = 1), "rating ~ job + (1 | name)", levels = of_names["job"])
  expect_match(fit$fits$optimiser, "Satterthwaite")
  expect_equal(fit$estimates$df, unname(stats::coef(summary(fit$models[[1]]))[, "df"]))
})

test_that("copies of a model that always answers alike change nothing", {
  rows <- subset(ratings_of_names(5, name_sd = 1), copy == 1)
  formula <- "rating ~ gender + job + (1 | name)"
  declared <- list(prompt = c("name", "job"))
  once <- fit_lme4(rows, formula, levels = of_names, declared = declared)
  five <- fit_lme4(rows[rep(seq_len(nrow(rows)), 5), ], formula, levels = of_names, declared = declared)
  expect_equal(five$estimates, once$estimates)
  expect_match(five$messages$text, "each prompt counts once", all = FALSE)
})
