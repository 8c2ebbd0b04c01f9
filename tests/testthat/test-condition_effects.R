# Draws that are no fit's: what is made of them can be computed by hand.
two_draws <- function(parts) {
  names <- c(paste0("b_", colnames(parts$standata$X)), sprintf("r_item[%s,Intercept]", levels(parts$data$item)))
  withr::with_seed(1, matrix(rnorm(2 * length(names)), 2, dimnames = list(NULL, names)))
}

asked <- function() {
  rows <- expand.grid(
    word = 1:2, test = c("gender_career", "gender_science"), model = c("m1", "m2"),
    condition = c("congruent", "incongruent"), stringsAsFactors = FALSE
  )
  rows$item <- paste(rows$test, rows$word)
  rows$is_consistent <- rep(c(TRUE, TRUE, FALSE), length.out = nrow(rows))
  rows
}

skip_without_brms()

test_that("population-level numbers leave items out, item-averaged ones are the mean over items, if draws have them", {
  parts <- brms_parts(asked(), "is_consistent ~ condition * model * test + (1 | item)")
  draws <- two_draws(parts)
  found <- condition_effects(draws, parts, "population")
  expect_equal(found$predictions$estimate[[1]], mean(plogis(draws[, 1])))
  cell <- plogis(draws[, "b_Intercept"]) - plogis(draws[, "b_Intercept"] + draws[, "b_conditionincongruent"])
  first <- found$contrasts[1, ]
  expect_equal(c(first$estimate, first$median, first$p_positive), c(mean(cell), median(cell), mean(cell > 0)))
  expect_equal(first$mde, minimum_detectable_effect(sd(cell), Inf))
  s <- subset(found$contrasts, scale == "s")[1, ]
  expect_equal(s$estimate, -mean(draws[, "b_conditionincongruent"]))
  found <- condition_effects(draws, parts, "item_averaged")
  own <- draws[, "b_Intercept"] + draws[, c("r_item[gender_career 1,Intercept]", "r_item[gender_career 2,Intercept]")]
  expect_equal(found$predictions$estimate[[1]], mean(plogis(own)))
  expect_equal(unique(found$predictions$kind), "item_averaged")
  expect_error(condition_effects(draws[, 1:8], parts), "no effects of \"item\"")
})

test_in_full("both kinds agree with brms's own predictions, with random slopes too, and with text for factors", {
  skip_without_stan()
  file <- withr::local_tempfile(fileext = ".rds")
  short_fit(few_trials(), save_to = file)
  fit <- readRDS(file)
  found <- condition_effects(fit)
  cells <- unique(fit$data[c("model", "test", "condition")])
  cells <- cells[order(cells$model, cells$test, cells$condition), ]
  population <- brms::posterior_epred(fit, newdata = transform(cells, item = NA), re_formula = NA)
  expect_equal(subset(found$predictions, kind == "population")$estimate, unname(colMeans(population)))
  items <- unique(fit$data$item[fit$data$test == "gender_science"])
  asked <- data.frame(cells[rep(4, length(items)), ], item = items)
  averaged <- rowMeans(brms::posterior_epred(fit, newdata = asked))
  row <- subset(found$predictions, kind == "item_averaged")[4, ]
  expect_equal(c(row$test, row$condition), c("gender_science", "incongruent"))
  expect_equal(c(row$estimate, row$conf_low), c(mean(averaged), quantile(averaged, .025, names = FALSE)))
  plain <- fit
  plain$data[] <- lapply(fit$data, function(one) if (is.factor(one)) as.character(one) else one)
  expect_equal(nrow(found$contrasts), 4 * 6)
  expect_equal(condition_effects(plain), found)
})

test_in_full("random slopes of items are weighted as brms weights them", {
  parts <- brms_parts(asked(), "is_consistent ~ condition * model + (1 + condition | item)")
  effect <- function(coefficient) sprintf("r_item[%s,%s]", levels(parts$data$item), coefficient)
  names <- c(paste0("b_", colnames(parts$standata$X)), effect("Intercept"), effect("conditionincongruent"))
  draws <- withr::with_seed(1, matrix(rnorm(3 * length(names)), 3, dimnames = list(NULL, names)))
  found <- condition_effects(draws, parts, "item_averaged", by = "model")
  n <- nlevels(parts$data$item)
  fixed <- draws[, "b_Intercept"] + draws[, "b_conditionincongruent"]
  slope <- fixed + draws[, 4 + seq_len(n)] + draws[, 4 + n + seq_len(n)]
  expect_equal(found$predictions$estimate[[2]], mean(plogis(slope)))
})

test_that("a factor that was dropped is named in the rows, and one condition alone has no contrast", {
  rows <- subset(asked(), model == "m1")
  suppressMessages(parts <- brms_parts(rows, "is_consistent ~ condition * model * test + (1 | item)"))
  found <- condition_effects(two_draws(parts), parts)
  expect_equal(unique(found$predictions$model), "m1")
  expect_equal(nrow(found$contrasts), 8)
  one_condition <- subset(asked(), condition == "congruent")
  suppressMessages(parts <- brms_parts(one_condition, "is_consistent ~ condition * model + (1 | item)"))
  none <- condition_effects(two_draws(parts), parts)$contrasts
  expect_equal(dim(none), c(0, 11))
  expect_named(none, names(found$contrasts))
})

test_that("a model that was asked in one condition only has no contrast, the others have theirs", {
  rows <- subset(asked(), !(model == "m2" & condition == "incongruent"))
  parts <- brms_parts(rows, "is_consistent ~ condition + model + (1 | item)")
  found <- condition_effects(two_draws(parts), parts, "population")
  expect_equal(found$contrasts$model, c("m1", "m1"))
})
