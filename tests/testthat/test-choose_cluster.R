audit <- function() {
  rows <- expand.grid(repetition = 1:5, template = c("p", "s"), job = c("x", "y", "z"), name = sprintf("n%d", 1:6),
                      stringsAsFactors = FALSE)
  rows$gender <- ifelse(rows$name < "n4", "w", "m")
  rows$item <- paste(rows$name, rows$job)
  rows$y <- withr::with_seed(1, sample(1:7, nrow(rows), TRUE))
  rows
}
declared <- list(
  properties = list(gender = "name"), cells = c("name", "job", "template"), prompt = c("item", "template")
)

test_that("a property clusters by what has it, all else by the item, and the study's own word stands above both", {
  clusters <- function(...) marginal_means(audit(), "y", c("name", "gender", "job"), ...)$tables$levels$clusters
  expect_equal(unique(clusters("item", declared = declared)), c("item", "name"))
  expect_equal(unique(clusters("template")), "template")
  expect_equal(unique(clusters()), "row")
})

test_that("where a level is one cluster its prompts are, never the trials that repeat them", {
  means <- marginal_means(audit(), "y", "item", "item", declared = declared)
  expect_match(means$fits$messages, "are in one cluster \\(\"item\"\\)")
  found <- unique(means$tables$levels[c("clusters", "n_clusters")])
  expect_equal(found, data.frame(clusters = "prompt", n_clusters = 2L))
})

test_that("copies of a deterministic model count once, and equal answers of one that varies are answers", {
  once <- audit()[audit()$repetition == 1, ]
  copies <- once[rep(seq_len(nrow(once)), each = 5), ]
  fit <- function(rows) mean_contrasts(rows, "y", c("gender", "job"), "item", declared = declared)
  expect_equal(fit(copies)$estimates, fit(once)$estimates)
  expect_match(fit(copies)$fits$messages, "same answer in 36 of 36 prompts asked again: each prompt counts once")
  expect_no_match(fit(audit())$fits$messages, "counts once")
  yes <- transform(audit(), y = as.integer(seq_along(y) > 4)) # nearly always yes: equal by its distribution
  expect_no_match(fit(yes)$fits$messages, "counts once")
})

test_that("trials of a study tell their clusters themselves, and no repetition counts as another prompt", {
  trials <- transform(audit(), respondent = "m", persona = NA, participant = NA, n_profiles = 1, trial_id = seq_along(y))
  said <- list(properties = list(gender = "name"), cells = c("job", "name", "template"),
               prompt = c("item", "template", "respondent"))
  for (estimand in list(marginal_means, amce, mean_contrasts)) {
    found <- estimand(trials, "y", c("gender", "job"))
    expect_equal(found$estimates, estimand(trials, "y", c("gender", "job"), "item", declared = said)$estimates)
    expect_match(found$fits$optimiser, "gender by name (gender is a property of name)", fixed = TRUE)
  }
  expect_output(print(found), "Errors: closed form, clusters: gender by name")
  expect_match(suppressMessages(fit_lm(trials, "y ~ gender"))$fits$optimiser, "gender is a property of name")
  clusters <- function(rows, formula) suppressMessages(fit_lm(rows, formula))$fits
  people <- transform(trials, participant = seq_along(y) %/% 6)
  expect_match(amce(people, "y", c("gender", "job"))$fits$optimiser, "clusters: participant", fixed = TRUE)
  expect_match(clusters(people, "y ~ gender + job")$optimiser, "clusters: participant", fixed = TRUE)
  expect_match(clusters(trials, "y ~ job")$optimiser, "clusters: item (as it was shown)", fixed = TRUE)
  personas <- transform(trials, persona = sprintf("p%d", seq_along(y) %% 12), respondent = seq_along(y) %% 12)
  expect_match(clusters(personas, "y ~ job")$optimiser, "clusters: respondent", fixed = TRUE)
  expect_match(clusters(personas, "y ~ persona")$messages, "\"respondent\"\\), .* take prompts as independent")
})

test_that("profiles that were shown together are one cluster, and levels of one cluster each are of others", {
  rows <- transform(audit(), position = 1 + seq_along(y) %% 2, item = paste("task", seq_along(y) %/% 2))
  rows <- transform(rows, name = factor(name), job = factor(job), cell = paste(name, job))
  together <- fit_lm(rows, "y ~ job", declared = list(prompt = c("item", "position")))
  expect_equal(unique(together$tables$clustered$n_clusters), 91L)
  each <- fit_lm(rows, "y ~ name * job", declared = list(prompt = c("name", "job", "template"), cluster = "cell"))
  alone <- fit_lm(rows, "y ~ name", declared = list(prompt = "name"))
  expect_match(each$fits$messages, "of \"name:job\" are in one cluster (\"cell\"), which", fixed = TRUE)
  expect_equal(unique(each$tables$clustered$n_clusters), 36L)
  expect_match(alone$fits$messages, "are in one cluster (\"prompt\"), which", fixed = TRUE)
  expect_equal(alone$estimates$std_error, unname(summary(lm(y ~ name, rows))$coefficients[, 2]))
})
