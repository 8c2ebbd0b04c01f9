lengths_of_refusals <- function() {
  withr::local_seed(2)
  data.frame(
    model = rep(c("a", "b"), each = 60),
    is_refusal = rep(c(TRUE, FALSE, FALSE), 40),
    tokens = round(rexp(120, 1 / 200)) + rep(c(400, 0, 0), 40)
  )
}

test_that("t, df and p are those of R's t.test, refusals minus the others", {
  data <- lengths_of_refusals()
  found <- welch_test(data)$estimates
  direct <- t.test(tokens ~ factor(is_refusal, levels = c(TRUE, FALSE)), data = data)
  expect_equal(found$statistic, unname(direct$statistic))
  expect_equal(found$df, unname(direct$parameter))
  expect_equal(found$p_value, direct$p.value)
  expect_equal(c(found$conf_low, found$conf_high), as.numeric(direct$conf.int))
  expect_equal(found$estimate, -diff(unname(direct$estimate)))
})

test_that("each group has a test and the variances of its two sides", {
  data <- lengths_of_refusals()
  found <- welch_test(data, by = "model")
  expect_equal(found$estimates$model, c("a", "b"))
  expect_equal(found$variances$n_groups, c(40, 20, 40, 20))
  expect_equal(found$variances$variance[[2]], var(data$tokens[data$model == "a" & data$is_refusal]))
})

test_that("a model with fewer than two refusals has no test, and says so", {
  data <- transform(lengths_of_refusals(), is_refusal = is_refusal & (model == "a" | seq_along(model) == 61))
  found <- welch_test(data, by = "model")
  expect_equal(found$estimates$model, "a")
  expect_equal(found$fits$status, c("ok", "warned"))
  expect_match(found$fits$messages[[2]], "A test needs two rows on each side: \"is_refusal\" is \"TRUE\" in 1.")
})

test_that("the published comparison of o3-mini's refusals comes out (section 3.2)", {
  files <- list.files(shared_path("data", "rmiat", "o3-mini"))
  trials <- do.call(rbind, lapply(sub("\\.csv$", "", files), function(test) published_trials("o3-mini", test)))
  labels <- c(
    "Pleasant", "Unpleasant", "Career", "Family", "Math", "Science", "Arts", "Temporary", "Permanent"
  )
  trials$is_refusal <- !trials$attribute %in% labels
  found <- welch_test(trials)$estimates
  expect_equal(round(c(found$statistic, found$df), 2), c(78.54, 793.96))
})

test_that("wrong arguments are one sentence", {
  expect_snapshot({
    write_error(welch_test(lengths_of_refusals(), contrast = "refusal"))
    write_error(welch_test(lengths_of_refusals(), levels = TRUE))
  })
})
