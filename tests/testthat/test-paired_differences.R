edits <- function() {
  rows <- expand.grid(edit = c("as it is", "name", "blank"), advert = 1:4, model = c("m", "n"), run = 1:2)
  rows$edit <- as.character(rows$edit)
  rows$score <- 5 + (rows$edit == "name") * (1 + (rows$advert == 1)) + (rows$edit == "blank") * (rows$advert > 2)
  rows
}
order_of_edits <- list(edit = c("as it is", "name", "blank"))

test_that("a version is compared with the baseline within each material, over materials", {
  found <- paired_differences(edits(), "score", "edit", "advert", respondent = "model", levels = order_of_edits)
  name <- found$estimates[found$estimates$term == "edit: name", ]
  expect_equal(c(name$estimate, name$std_error, name$df), c(1.25, sd(c(2, 1, 1, 1)) / 2, 3))
  expect_equal(found$tables$versions$mean_absolute, c(1.25, .5))
})

test_that("what a change does beyond its placebo is the difference of both differences", {
  found <- paired_differences(edits(), "score", "edit", "advert", placebo = "blank", levels = order_of_edits)
  beyond <- found$estimates[found$estimates$term == "edit: name - placebo", ]
  expect_equal(beyond$estimate, mean(c(2, 1, 0, 0)))
  expect_equal(found$tables$versions$p_adjusted, stats::p.adjust(found$estimates$p_value, "holm"))
})

test_that("the floor of a mean absolute difference is what shuffled repetitions give", {
  set.seed(2)
  rows <- expand.grid(edit = c("as it is", "blank"), advert = 1:60, run = 1:5)
  rows$score <- stats::rnorm(nrow(rows))
  found <- paired_differences(rows, "score", "edit", "advert", draws = 300)$tables$versions
  expect_gt(found$mean_absolute, found$shuffled_low)
  expect_lt(found$mean_absolute, found$shuffled_high)
  expect_equal(found$shuffled_mean, sqrt(2 / 5) * sqrt(2 / pi), tolerance = .1)
})

test_that("two changes at once, an unknown placebo and a lacking baseline are sentences", {
  rows <- transform(edits(), tone = "plain")
  twice <- transform(rows, tone = ifelse(edit == "name", "warm", "plain"))
  said <- function(...) paired_differences(..., levels = order_of_edits)$fits$error
  expect_match(said(twice, "score", c("edit", "tone"), "advert"), "in one attribute, not in two")
  expect_match(said(rows, "score", "edit", "advert", placebo = "noop"), "no version here")
  expect_match(said(rows[rows$edit != "as it is", ], "score", "edit", "advert"), "no rows of the baseline")
})

test_that("nothing is equivalent without a bound, and with one by two one-sided tests over materials", {
  rows <- expand.grid(edit = c("as it is", "name", "blank"), advert = 1:20, run = 1)
  rows$score <- 5 + (rows$edit == "name") * 2 + (rows$edit != "as it is") * (rows$advert %% 2) / 10
  said <- function(bound) {
    paired_differences(rows, "score", "edit", "advert", bound = bound, draws = 1, levels = order_of_edits)
  }
  expect_false("finding" %in% names(said(NULL)$tables$versions))
  expect_equal(said(.5)$tables$versions$finding, c("differs by more than the bound", "equivalent within the bound"))
  own <- stats::t.test(rows$score[rows$edit == "blank"] - 5, mu = .08, alternative = "less")$p.value
  expect_equal(said(.08)$tables$versions$p_equivalence[[2]], own)
  expect_error(said(-1), "number above 0")
})

test_that("36 versions of a public audit, and its placebo, have differences and errors that were computed elsewhere", {
  rows <- utils::read.csv(file.path(shared_data("resume_edits"), "recinq_scores.csv"))
  expected <- utils::read.csv(file.path(shared_data("resume_edits"), "recinq_deltas.csv"))
  levels <- list(variant = unique(c("baseline", rows$variant)))
  fit <- paired_differences(rows, "score", "variant", "jd", respondent = "model", levels = levels, draws = 20)
  found <- fit$estimates[match(paste("variant:", expected$variant), fit$estimates$term), ]
  table <- fit$tables$versions[match(found$term, fit$tables$versions$term), ]
  expect_equal(found$estimate, expected$mean_delta, tolerance = 1e-5)
  expect_equal(found$std_error, expected$se_over_jds, tolerance = 1e-4)
  expect_equal(table$n_pairs, expected$cells)
  expect_equal(table$mean_absolute, expected$mean_abs_delta, tolerance = 1e-5)
  # what its placebo does is mostly what shuffled runs give
  rows <- rows[rows$variant %in% c("baseline", grep("^placebo.*", rows$variant, value = TRUE)), ]
  levels <- list(variant = unique(c("baseline", rows$variant)))
  table <- paired_differences(rows, "score", "variant", "jd", respondent = "model", levels = levels)$tables$versions
  blank <- table[table$level == "placebo_noop-whitespace", ]
  expect_equal(c(blank$mean_absolute, blank$shuffled_mean), c(.262, .223), tolerance = .02)
  expect_equal(c(blank$shuffled_low, blank$shuffled_high), c(.185, .259), tolerance = .06)
})

test_figure("each version has its difference, and its absolute one over what shuffled repetitions give", {
  fit <- paired_differences(edits(), "score", "edit", "advert", placebo = "blank", levels = order_of_edits)
  plot <- plot_paired_differences(fit)
  expect_same_figure("paired differences", plot)
  floors <- ggplot2::layer_data(plot, 2)
  drawn <- fit$tables$versions$shuffled_high[1:2]
  expect_equal(sort(floors$xmax[!is.na(floors$xmax)]), sort(drawn))
  expect_match(attr(plot, "alt_text"), "of 2 means of absolute differences above what shuffled")
})
