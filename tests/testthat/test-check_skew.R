test_that("d of the logarithm, ranks and t tests are those of R's own functions", {
  trials <- made_trials()
  found <- check_skew(trials)
  sides <- split(trials$tokens, trials$condition)
  logged <- transform(trials, tokens = log(1 + tokens))
  of_counts <- effect_size(trials)$estimates
  expect_equal(c(found$d, found$conf_low), c(of_counts$estimate, of_counts$conf_low))
  expect_equal(found$d_log, effect_size(logged)$estimates$estimate)
  expect_equal(found$p_difference, t.test(tokens ~ condition, data = trials, var.equal = TRUE)$p.value)
  expect_equal(found$p_log, t.test(tokens ~ condition, data = logged, var.equal = TRUE)$p.value)
  wins <- outer(sides$incompatible, sides$compatible, ">") + .5 * outer(sides$incompatible, sides$compatible, "==")
  expect_equal(found$superiority, mean(wins))
  expect_equal(found$p_ranks, wilcox.test(sides$incompatible, sides$compatible, exact = FALSE)$p.value)
})

test_that("an effect that a few long answers make is gone on the logarithm", {
  trials <- made_trials(effect = 0)
  trials$tokens[which(trials$condition == "incompatible")[1:4]] <- 2000
  found <- check_skew(trials)
  expect_gt(found$skewness, 3)
  expect_equal(found$changes_conclusion, (found$p_difference < .05) != (found$p_log < .05))
  expect_gt(found$d, found$d_log)
})

test_that("counts below 0 are one row that says why, and run_check() keeps what R says", {
  expect_match(check_skew(transform(made_trials(), tokens = tokens - 200))$messages, "no logarithm")
  expect_warning(heard <- run_check("check_skew", data.frame(tokens = 1)), "check_skew has no rows. Can't")
  expect_null(heard$rows)
  expect_match(heard$messages$text, "no column \"condition\"")
  expect_error(run_check("check_luck", made_trials()), "There is no check \"check_luck\"")
  expect_error(run_check("check_skew", made_trials(), list(bye = "model")), "it takes no argument \"bye\"")
  expect_error(run_check("check_order_effect", made_trials()), "it needs `order`")
  expect_error(run_fit("leave_one_out", made_trials()), "Can't fit with leave_one_out: it needs `formula`")
})
