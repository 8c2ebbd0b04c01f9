# Words that differ in their effect, each in some wordings; nothing more in one condition than the other on the whole.
made_pairs <- function(effect = 0, word_sd = 0, n_words = 12, n_wordings = 6, seed = 1) {
  withr::local_seed(seed)
  data <- expand.grid(
    condition = c("compatible", "incompatible"), wording = seq_len(n_wordings),
    item = sprintf("word %d", seq_len(n_words)),
    stringsAsFactors = FALSE
  )
  of_word <- stats::rnorm(n_words, sd = word_sd)[match(data$item, unique(data$item))]
  shift <- (effect + of_word) * ifelse(data$condition == "compatible", -.5, .5)
  data$tokens <- round(200 + shift + 10 * data$wording + stats::rnorm(nrow(data), sd = 40))
  cbind(model = "a", test = "t", group = "g", data)
}
conditions <- c("compatible", "incompatible")
plain <- "tokens ~ condition + (1 | wording)"

test_that("the difference and its p are those of a t test, of the data as observed and of each relabelling", {
  data <- made_pairs(effect = 12)[-3, ] # a word that was answered in one condition only
  found <- permute_pairs(data, plain, conditions, permutations = 20)
  welch <- stats::t.test(tokens ~ condition, data)
  expect_equal(found$tests$observed, unname(diff(welch$estimate)))
  expect_equal(found$tests$p_engine, welch$p.value)
  expect_equal(unlist(found$counts), c(n_rows = 143, n_units = 72, n_one_condition = 1))
  units <- unit_keys(data, c("item", "group", "wording"))
  is_moved <- swapped_units(72, 20, 1)[8, match(units, sort(unique(units), method = "radix"))]
  data$condition[is_moved] <- ifelse(data$condition[is_moved] == "compatible", "incompatible", "compatible")
  expect_equal(found$values$p_value[[8]], stats::t.test(tokens ~ condition, data)$p.value)
  expect_equal(found$values$difference[[8]], unname(diff(stats::t.test(tokens ~ condition, data)$estimate)))
})

test_that("a refit of swapped answers is the fit of swapped labels, and answers without the other one take part", {
  data <- made_pairs(effect = 12)
  labels <- list(condition = conditions)
  whole <- permute_pairs(data, plain, conditions, 3, engine = "lme4")
  estimates <- fit_lme4(data, plain, levels = labels)$estimates[2, ]
  refitted <- c(whole$tests$observed, whole$tests$p_engine)
  expect_equal(refitted, c(estimates$estimate, estimates$p_value), tolerance = 1e-4)
  torn <- permute_pairs(data[-3, ], plain, conditions, 3, engine = "lme4")
  differences <- permute_pairs(data, plain, conditions, 3)$values$difference
  expect_equal(whole$values$difference, differences, tolerance = 1e-4) # balanced: wordings take nothing from it
  expect_equal(torn$values$difference[-1], differences[-1], tolerance = .2)
})

test_that("neither the order of rows nor other permutations change one", {
  data <- made_pairs(effect = 12)
  all <- permute_pairs(data, plain, conditions, 30)$values
  expect_identical(permute_pairs(data[rev(seq_len(nrow(data))), ], plain, conditions, 10)$values, all[1:11, ])
})

test_in_full("where words differ in their effect, p holds only if words are swapped as a whole", {
  p <- vapply(1:60, function(seed) {
    data <- made_pairs(word_sd = 60, seed = seed)
    c(
      permute_pairs(data, plain, conditions, 99)$tests$p_two_sided,
      permute_pairs(data, plain, conditions, 99, whole_words = TRUE)$tests$p_two_sided
    )
  }, numeric(2))
  expect_gt(mean(p[1, ] < .05), .15)
  expect_lt(mean(p[2, ] < .05), .15)
})

test_that("permutation_test() gives a row for each model and test", {
  trials <- simulate_trials()
  found <- permutation_test(trials, plain, 49, engine = "difference", levels = list(condition = conditions))
  expect_equal(nrow(found$tests), nrow(unique(trials[c("model", "test")])))
  expect_equal(nrow(found$cells), 50 * nrow(found$tests))
  expect_true(all(found$tests$false_positives_low <= found$tests$false_positives))
})

test_that("what can't be permuted is one sentence", {
  expect_snapshot({
    write_error(permute_pairs(made_pairs(), plain, conditions, engine = "brms"))
    write_error(permute_pairs(made_pairs(), plain, c("compatible", "other")))
    write_error(permute_pairs(made_pairs(), "tokens ~ condition", conditions, 2, engine = "lme4"))
  })
})
