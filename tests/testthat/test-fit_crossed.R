sides <- c("compatible", "incompatible")
varied <- list(wording = 100, word = 400, residual = 900, wording_intercept = 64, word_intercept = 100)

crossed_trials <- function(variances = varied, seed = 3, n_words = 16, n_wordings = 12) {
  simulate_crossed_trials(n_words, n_wordings, effect = 12, variances = variances, seed = seed)
}

direct_model <- function(trials, formula = tokens ~ code + (1 + code || wording) + (1 + code || item)) {
  trials$code <- ifelse(trials$condition == "incompatible", .5, -.5)
  lmerTest::lmer(formula, data = transform(trials, item = factor(item), wording = factor(wording)), control = sharp)
}

test_that("a fit has the numbers of lmerTest, where trials are balanced, with conditions coded -1/2 and 1/2", {
  fit <- fit_crossed(crossed_trials(), levels = sides)
  direct <- direct_model(crossed_trials())
  table <- coef(summary(direct))
  expect_equal(fit$estimates$term, c("intercept", "conditionincompatible"))
  expect_equal(fit$estimates$estimate, unname(table[, "Estimate"]))
  expect_equal(fit$estimates$std_error, unname(table[, "Std. Error"]), tolerance = 1e-6)
  expect_equal(fit$estimates$df, unname(table[, "df"]), tolerance = 1e-4)
  expect_equal(fit$estimates$p_value, unname(table[, "Pr(>|t|)"]), tolerance = 1e-4)
  expect_equal(fit$variances$variance, as.data.frame(lme4::VarCorr(direct))$vcov, tolerance = 1e-6)
  expect_equal(fit$fits$status, "ok")
})

test_that("parts of the squared error add up to it; where balanced, s2 / n are of slopes and 4 s2 / N of trials", {
  fit <- fit_crossed(crossed_trials(), levels = sides)
  expect_equal(sum(fit$tables$shares$part), fit$tables$effects$std_error^2, tolerance = 1e-8)
  # Kenward and Roger add something where trials are missing
  trials <- crossed_trials()[-c(1:20, 77, 300), ]
  missing <- fit_crossed(trials, levels = sides)$tables
  plain <- stats::vcov(direct_model(trials))["code", "code"]
  expect_equal(sum(missing$shares$part), plain, tolerance = 1e-4)
  expect_gt(missing$effects$std_error^2, plain)
  expect_equal(sum(missing$shares$share), 1)
  shares <- fit$tables$shares
  names <- paste(shares$group, shares$term)
  part <- stats::setNames(shares$part, names)
  variance <- stats::setNames(shares$variance, names)
  expect_equal(part[["item condition"]], variance[["item condition"]] / 16)
  expect_equal(part[["wording condition"]], variance[["wording condition"]] / 12)
  expect_equal(part[["residual residual"]], 4 * variance[["residual residual"]] / (2 * 16 * 12))
  expect_equal(part[["item intercept"]] + part[["wording intercept"]], 0)
})

test_that("standard errors and degrees of freedom are those of pbkrtest, also of repetitions and at a variance of 0", {
  skip_if_not_installed("pbkrtest")
  of_pbkrtest <- function(trials, formula) {
    model <- suppressMessages(direct_model(trials, formula))
    adjusted <- pbkrtest::vcovAdj(model)
    c(sqrt(adjusted[2, 2]), pbkrtest::Lb_ddf(c(0, 1), stats::vcov(model), adjusted))
  }
  ours <- function(trials) unlist(fit_crossed(trials, levels = sides)$tables$effects[c("std_error", "df")])
  terms <- tokens ~ code + (1 | wording) + (0 + code | wording) + (1 | item) + (0 + code | item)
  missing <- crossed_trials(n_words = 6, n_wordings = 5)[-(1:7), ]
  expect_equal(unname(ours(missing)), of_pbkrtest(missing, terms), tolerance = 1e-5)
  flat <- crossed_trials(list(residual = 900, word_intercept = 400), seed = 8, n_words = 6, n_wordings = 5)
  expect_equal(unname(ours(flat)), of_pbkrtest(flat, terms), tolerance = 1e-4)
  trials <- simulate_crossed_trials(6, 4, 3, variances = varied, seed = 2)
  trials$combination <- factor(paste(trials$item, trials$wording, trials$condition))
  trials$tokens <- trials$tokens + with_seed(1, stats::rnorm(48, sd = 25))[trials$combination]
  repeated <- trials[-(1:9), ]
  expect_equal(
    unname(ours(repeated)), of_pbkrtest(repeated, stats::update(terms, ~ . + (1 | combination))),
    tolerance = 1e-4
  )
})

test_that("five answers that are the same are one answer, and similar ones share what is special to them", {
  trials <- crossed_trials()
  five <- do.call(rbind, lapply(1:5, function(number) transform(trials, repetition = number)))
  once <- fit_crossed(trials, levels = sides)
  same <- fit_crossed(five, levels = sides)
  expect_equal(same$tables$effects$std_error, once$tables$effects$std_error)
  expect_match(same$messages$text, "the same answer: 1920 rows count as 384 answers", all = FALSE)
  five$tokens <- five$tokens + with_seed(1, stats::rnorm(nrow(five), sd = 10))
  similar <- fit_crossed(five, levels = sides)$tables
  expect_equal(similar$effects$std_error, once$tables$effects$std_error, tolerance = .05)
  expect_equal(similar$shares$variance[similar$shares$group == "combination"], 900, tolerance = .2)
  expect_equal(sum(similar$shares$share), 1)
})

test_that("two wordings say nothing of others, and two of both say nothing", {
  two <- fit_crossed(crossed_trials(n_wordings = 2), levels = sides)
  expect_equal(two$tables$effects$generalises_to, "item")
  expect_match(two$messages$text, "Fewer than three of \"wording\" (2)", fixed = TRUE, all = FALSE)
  expect_equal(fit_crossed(crossed_trials(), levels = sides)$tables$effects$generalises_to, "wording, item")
  none <- fit_crossed(crossed_trials(n_words = 2, n_wordings = 2), levels = sides)
  expect_match(none$fits$error, "fewer than three of \"wording\", \"item\"")
})

test_that("where Kenward and Roger's degrees of freedom can't be had, they are those of the fewest words or wordings", {
  model <- direct_model(crossed_trials(n_words = 6, n_wordings = 5))
  parts <- model_matrices(model)
  parts$diagonals <- c(parts$diagonals, parts$diagonals) # two components that can't be told apart
  parts$diagonal_variances <- c(1, 1) * parts$diagonal_variances / 2
  error <- error_over_words(model, parts, inverse_of_variance(parts))
  expect_equal(error$df_method, c("capped", "capped"))
  expect_equal(error$df, c(4, 4))
  expect_equal(error$std_error, unname(sqrt(diag(as.matrix(stats::vcov(model))))))
})

test_that("the weights of the rows are those that give the estimate", {
  trials <- crossed_trials()[-(1:20), ]
  model <- direct_model(trials)
  parts <- model_matrices(model)
  weights <- estimation_weights(parts, inverse_of_variance(parts))
  expect_equal(sum(weights[, 2] * trials$tokens), lme4::fixef(model)[["code"]], tolerance = 1e-6)
})

test_that("a singular fit is said to be one, and the model without its variances of 0 is named", {
  trials <- crossed_trials(list(residual = 900, word_intercept = 400, wording_intercept = 400), seed = 8)
  fit <- fit_crossed(trials, levels = sides)
  effects <- fit$tables$effects
  expect_equal(fit$fits$status, "singular")
  is_zero <- fit$variances$variance == 0
  left_out <- paste(fit$variances$term, "by", fit$variances$group)[is_zero]
  expect_setequal(strsplit(effects$left_out, ", ")[[1]], left_out)
  expect_match(fit$messages$text, "Singular: the variance of .* is 0", all = FALSE)
  direct <- direct_model(trials, stats::as.formula(gsub("condition", "code", effects$fitted, fixed = TRUE)))
  expect_false(lme4::isSingular(direct))
  expect_equal(fit$fits$log_lik, as.numeric(logLik(direct)), tolerance = 1e-7)
  # a variance that was estimated as 0 is not known to be 0
  expect_lt(effects$df, coef(summary(direct))["code", "df"])
})

test_that("the minimum detectable effect is found with the power that was asked for", {
  effect <- fit_crossed(crossed_trials(), levels = sides)$tables$effects
  expect_equal(t_test_power(effect$mde, effect$std_error, effect$df), .8, tolerance = 1e-6)
  groups <- split(crossed_trials()$tokens, crossed_trials()$condition)
  expect_equal(effect$mde_d, effect$mde / sqrt(pooled_variance(groups[[1]], groups[[2]])))
  theirs <- stats::power.t.test(n = 10, sd = 2, power = .8, strict = TRUE)
  expect_equal(minimum_detectable_effect(2 * sqrt(2 / 10), 18), theirs$delta, tolerance = 1e-4)
  expect_true(is.na(minimum_detectable_effect(1, NA)))
})

test_that("an effect that the reference model finds and this one does not is lost", {
  trials <- crossed_trials(list(word = 6400, residual = 400), seed = 5)
  effect <- fit_crossed(trials, levels = sides, reference_model = "tokens ~ condition + (1 | wording)")$tables$effects
  plain <- fit_lme4(trials, "tokens ~ condition + (1 | wording)", levels = list(condition = sides))$estimates[2, ]
  expect_identical(effect$std_error_ratio, effect$std_error / plain$std_error)
  expect_identical(effect$reference_p, plain$p_value)
  plain <- list(estimate = 1, p_value = .01)
  verdict <- function(p, sign = 1) verdict_against(list(estimate = sign, p_value = p), plain, .05)
  expect_equal(c(verdict(.2), verdict(.02), verdict(.02, -1)), c("lost", "stays", "lost"))
  unclear <- list(estimate = 1, p_value = .059)
  expect_equal(verdict_against(list(estimate = 1, p_value = .02), unclear, .05), "gained")
  expect_equal(verdict_against(unclear, unclear, .05), "not_significant")
})

test_in_full("a reference model that lets the effect vary over the same groups is not compared with itself", {
  trials <- crossed_trials(list(word = 6400, residual = 400), seed = 5)
  own <- c(
    crossed_formula, "tokens ~ condition + (1 + condition | wording) + (condition | item)",
    "tokens ~ condition + (1 | wording) + (1 + condition || item)"
  )
  verdicts <- vapply(own, function(reference_model) {
    suppressMessages(fit_crossed(trials, levels = sides, reference_model = reference_model)$tables$effects$verdict)
  }, "")
  expect_equal(unname(verdicts[1:2]), rep("already_in_model", 2))
  expect_true(verdicts[[3]] %in% c("stays", "lost", "not_significant"))
})

test_that("words may be drawn anew within their groups, and the same word in both groups is two", {
  trials <- crossed_trials()
  within <- "tokens ~ condition * group + (1 + condition || wording) + (1 + condition || group:item)"
  fit <- fit_crossed(trials, within, levels = sides)
  trials$side <- ifelse(trials$group == "b", .5, -.5)
  direct <- direct_model(trials, tokens ~ code * side + (1 + code || wording) + (1 + code || item))
  expect_equal(fit$tables$effects$std_error, coef(summary(direct))["code", "Std. Error"], tolerance = 1e-5)
  trials$item <- ifelse(trials$item > 8, trials$item - 8, trials$item)
  nested <- fit_crossed(trials, sub("* group", "", within, fixed = TRUE), levels = sides)
  expect_equal(nested$variances$n_groups[nested$variances$group == "group:item"], c(16L, 16L))
})

test_that("correlated slopes are refused with what to write", {
  fit <- fit_crossed(crossed_trials(), "tokens ~ condition + (1 + condition | item)", levels = sides)
  expect_equal(fit$fits$status, "failed")
  expect_match(fit$fits$error, "(1 + condition || item)", fixed = TRUE)
})

test_in_full("its intervals hold the effect in 95 of 100 studies, the paper's in fewer", {
  coverage <- crossed_coverage(400, 40, 20, effect = 10, variances = varied, seed = 100)
  ours <- coverage[coverage$model == "crossed", ]
  # 93 to 97 %, and what 400 data sets leave open.
  expect_gt(ours$coverage, .93 - 2 * ours$monte_carlo_error)
  expect_lt(ours$coverage, .97 + 2 * ours$monte_carlo_error)
  expect_lt(coverage$coverage[coverage$model == "wordings"], .93)
})

test_that("a plan from repetitions that are all the same knows that more of them bring nothing", {
  once <- simulate_crossed_trials(6, 8, 1, 20, list(word = 100, wording = 25, residual = 900), seed = 3)
  five <- once[rep(seq_len(nrow(once)), 5), ]
  sides <- c("compatible", "incompatible")
  fits <- lapply(list(once, five), function(trials) suppressMessages(fit_crossed(trials, levels = sides)))
  expect_equal(fits[[2]]$tables$effects$std_error, fits[[1]]$tables$effects$std_error)
  shares <- fits[[2]]$tables$shares
  groups <- shares$group[shares$term %in% c("intercept", "residual")]
  expect_equal(groups, c("wording", "item", "combination", "residual"))
  expect_equal(shares$variance[shares$group == "residual"], 0)
  plans <- lapply(fits, function(fit) suppressMessages(plan_power(fit, 6, 8, c(1, 5))))
  expect_equal(plans[[2]]$std_error, plans[[1]]$std_error_most)
  expect_lt(plans[[1]]$std_error[[2]], .9 * plans[[1]]$std_error_most[[2]])
})
