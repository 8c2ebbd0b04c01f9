# Scores of résumés by a model (shared data): 36 names, 81 cells of job and résumé, three times each.

resumes <- function() {
  scores <- utils::read.csv(file.path(shared_data("ratings_resumes"), "scores.csv"))
  scores <- scores[scores$model == "gpt-5.1-2025-11-13", ]
  scores$total <- scores$experience + scores$skills + scores$achievements + scores$quality
  scores$cell <- paste(scores$job, scores$resume)
  scores
}
fit_names <- function(scores, ...) {
  levels <- list(race = c("AA", "White"), cell = sort(unique(scores$cell)))
  fit_lm(scores, "total ~ race + cell", levels = levels, ...)
}

test_in_full("names cost .44 of 100 points, and answers to one name hang together", {
  scores <- resumes()
  fit <- fit_names(scores, cluster = "name")
  own <- fit$estimates[fit$estimates$term == "raceWhite", ]
  expect_equal(round(own$estimate, 5), -.44147)
  rows <- fit$tables$clustered[fit$tables$clustered$term == "raceWhite", ]
  expect_equal(round(rows$std_error_rows, 5), .07543) # as published: each score independent
  by_name <- fit$models[[1]]
  robust <- over_one_way(linear_model$changes(by_name), scores$name) * hc1(by_name)
  expect_equal(round(sqrt(robust[["raceWhite", "raceWhite"]]), 5), .11549)
  few <- fit$tables$clustered[fit$tables$clustered$term == "raceWhite", ]
  expect_equal(few$method, "CR2")
  expect_equal(few$std_error, .1173, tolerance = .02)
})

test_that("the mixed model over names and cells has the published standard error", {
  formula <- "total ~ gender * race + (1 | name) + (1 | job:resume)"
  levels <- list(gender = c("female", "male"), race = c("AA", "White"))
  fit <- fit_lme4(resumes(), formula, levels = levels)
  expect_equal(round(fit$estimates$std_error[2:4], 4), c(.1314, .1314, .1858))
  expect_equal(sqrt(fit$variances$variance[fit$variances$group == "job:resume"]), 17.24503, tolerance = 1e-4)
})
