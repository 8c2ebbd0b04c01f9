# A criterion with a noise as lme4's has it, which a process of R draws by where its memory lies.
noisy <- function(criterion, noise = 1e-12) function(x) criterion(x) + stats::runif(1, -noise, noise)
valley <- function(x) 300 + 40 * (x[[1]] - .3)^2 + 9 * (x[[2]] - .8)^2 + 5 * x[[1]]^2 * x[[2]]

test_that("an optimum is the same from wherever in its tolerance the optimiser stopped", {
  starts <- with_seed(1, lapply(1:20, function(i) c(.269, .785) + stats::runif(2, -1e-3, 1e-3)))
  ends <- with_seed(2, vapply(starts, function(x) polished_optimum(noisy(valley), x, c(0, 0)), c(1, 1)))
  expect_lt(max(apply(ends, 1, function(values) diff(range(values)))), 1e-10)
  expect_equal(ends[, 1], stats::optim(c(.27, .79), valley, method = "BFGS", control = list(reltol = 1e-15))$par,
    tolerance = 1e-6
  )
})

test_that("a standard deviation next to 0 is 0 if that is as good, and stays if it is not", {
  flat <- function(x) 300 + 40 * (x[[1]] - .3)^2 + 2 * x[[2]]^2
  expect_identical(polished_optimum(flat, c(.3001, 3e-6), c(0, 0))[[2]], 0)
  steep <- function(x) 300 + 40 * (x[[1]] - .3)^2 - 1e4 * x[[2]]
  expect_identical(polished_optimum(steep, c(.3001, 3e-6), c(0, 0))[[2]], 3e-6)
})

test_that("what does not converge stays as it was found", {
  for (criterion in list(function(x) -x^2, function(x) abs(x - 1), function(x) NaN)) {
    found <- tryCatch(polished_optimum(criterion, .9, 0), error = function(condition) .9)
    expect_identical(found, .9)
  }
})

test_that("rows in another order in memory give an equal fit, and the saved model holds no code of ours", {
  trials <- made_trials()
  fits <- lapply(list(seq_len(nrow(trials)), rev(seq_len(nrow(trials)))), function(order) fit_made(trials[order, ]))
  for (name in c("estimate", "std_error", "conf_low", "conf_high")) {
    expect_equal(fits[[1]]$estimates[[name]], fits[[2]]$estimates[[name]], tolerance = 1e-9)
  }
  expect_match(fits[[1]]$fits$optimiser, "nloptwrap, polished", fixed = TRUE)
  expect_lt(length(serialize(fits[[1]]$models[[1]]@optinfo, NULL)), 1e4)
})

test_that("R's own functions fit a kept mixed model again: smaller, by profiles, to other answers", {
  model <- fit_made(made_trials())$models[[1]]
  smaller <- update(model, . ~ . - condition)
  expect_equal(names(lme4::fixef(smaller)), "(Intercept)")
  expect_equal(anova(model, smaller, refit = FALSE)$npar, c(3, 4))
  expect_true(all(is.finite(suppressWarnings(confint(model, quiet = TRUE)))))
  expect_equal(lme4::fixef(lme4::refit(model, model@frame$tokens)), lme4::fixef(model), tolerance = 1e-6)
})

test_that("without the polish a fit has the numbers of lmerTest called directly", {
  trials <- made_trials()
  fit <- fit_made(trials, polish = FALSE)
  trials$condition <- factor(trials$condition, levels = conditions)
  trials$wording <- factor(trials$wording)
  model <- lmerTest::lmer(tokens ~ condition + (1 | wording), data = trials)
  table <- coef(summary(model))
  of_lmer <- c(estimate = "Estimate", std_error = "Std. Error", df = "df", p_value = "Pr(>|t|)")
  for (name in names(of_lmer)) {
    expect_equal(fit$estimates[[name]], unname(table[, of_lmer[[name]]]), tolerance = 1e-8)
  }
  expect_equal(fit$variances$variance, as.data.frame(lme4::VarCorr(model))$vcov, tolerance = 1e-8)
  expect_error(fit_made(trials, polish = NA), "must be TRUE or FALSE")
})
