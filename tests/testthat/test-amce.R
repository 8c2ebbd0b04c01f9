# Effects of attributes, against R's own lm() and sums by hand; the printed numbers of a published conjoint, if the
# shared data are here.

made_profiles <- function(n_people = 60, seed = 1) {
  with_seed(seed, {
    profiles <- expand.grid(place = 1:4, person = seq_len(n_people))
    n <- nrow(profiles)
    profiles$group <- sample(c("a", "b"), n, TRUE)
    profiles$school <- sample(c("none", "some", "much"), n, TRUE)
    jobs <- c("clerk", "cook", "nurse", "doctor")
    may <- list(none = jobs[1:2], some = jobs[1:3], much = jobs)
    profiles$job <- vapply(may[profiles$school], sample, "", size = 1)
    profiles$weight <- stats::runif(n, .5, 2)
    liking <- stats::rnorm(n_people)[profiles$person]
    profiles$chosen <- as.integer(stats::rnorm(n) + liking + (profiles$group == "b") + (profiles$job == "doctor") > .5)
    profiles
  })
}

# The covariance of vcovCL(type = "HC1", cadjust = TRUE), by hand.
clustered <- function(model, cluster) {
  x <- stats::model.matrix(model)
  x <- x[, !is.na(stats::coef(model)), drop = FALSE]
  weights <- if (is.null(stats::weights(model))) rep(1, nrow(x)) else stats::weights(model)
  sums <- rowsum(x * weights * stats::residuals(model), cluster)
  bread <- solve(crossprod(x, x * weights))
  n <- nrow(sums)
  bread %*% crossprod(sums) %*% bread * n / (n - 1) * (nrow(x) - 1) / (nrow(x) - ncol(x))
}

test_that("effects without linked attributes are coefficients of lm() with clustered standard errors", {
  profiles <- made_profiles()
  model <- stats::lm(chosen ~ group + school, profiles, weights = weight)
  found <- amce(profiles, "chosen", c("group", "school"), "person", "weight")$estimates
  expect_equal(found$term, c("group: b", "school: none", "school: some"))
  expect_equal(found$estimate, unname(stats::coef(model)[-1]), tolerance = 1e-10)
  expect_equal(found$std_error, unname(sqrt(diag(clustered(model, profiles$person)))[-1]), tolerance = 1e-10)
  expect_equal(found$df, rep(59, 3))
})

test_that("rows of weight 0 are neither rows nor clusters, as in lm()", {
  profiles <- made_profiles()
  nobody <- transform(made_profiles(4, seed = 2), person = 100 + person, weight = 0, school = "elsewhere")
  without <- amce(profiles, "chosen", c("group", "school"), "person", "weight")
  found <- amce(rbind(profiles, nobody), "chosen", c("group", "school"), "person", "weight")
  expect_equal(found[c("estimates", "tables")], without[c("estimates", "tables")])
  expect_match(amce(nobody, "chosen", "group", weights = "weight")$fits$error, "not all 0")
})

test_that("with linked attributes an effect is averaged over the levels that both sides can have", {
  profiles <- made_profiles()
  fit <- amce(profiles, "chosen", c("school", "job"), "person", linked = list(c("school", "job")))
  means <- tapply(profiles$chosen, profiles[c("job", "school")], mean)
  doctor <- fit$estimates[fit$estimates$term == "job: doctor", ]
  expect_equal(doctor$estimate, means[["doctor", "much"]] - means[["clerk", "much"]])
  nurse <- mean(means["nurse", c("much", "some")] - means["clerk", c("much", "some")])
  expect_equal(fit$estimates$estimate[fit$estimates$term == "job: nurse"], nurse)
  expect_equal(fit$tables$levels$n_strata[fit$tables$levels$attribute == "job"], c(3L, 1L, 2L))
  shown <- amce(profiles, "chosen", c("school", "job"), "person", linked = list(c("school", "job")), strata = "shown")
  weights <- table(profiles$school)[c("much", "some")]
  by_share <- sum(weights * (means["nurse", c("much", "some")] - means["clerk", c("much", "some")])) / sum(weights)
  expect_equal(shown$estimates$estimate[shown$estimates$term == "job: nurse"], by_share)
})

test_that("swapping the reference turns the sign and keeps the error", {
  profiles <- made_profiles()
  linked <- list(c("school", "job"))
  there <- amce(profiles, "chosen", c("school", "job"), "person", linked = linked)$estimates
  jobs <- list(job = c("nurse", "clerk", "cook", "doctor"))
  back <- amce(profiles, "chosen", c("school", "job"), "person", linked = linked, levels = jobs)$estimates
  there <- there[there$term == "job: nurse", ]
  back <- back[back$term == "job: clerk", ]
  expect_equal(c(there$estimate, there$std_error), c(-back$estimate, back$std_error))
})

test_that("interaction effects sum to 0 over rows and columns, and are those of the cells' means", {
  profiles <- made_profiles()
  found <- amie(profiles, "chosen", c("group", "school"), "person")$estimates
  cells <- matrix(found$estimate, 2)
  expect_equal(c(rowSums(cells), colSums(cells)), rep(0, 5))
  means <- tapply(profiles$chosen, profiles[c("group", "school")], mean)
  by_hand <- means - rowMeans(means) - rep(colMeans(means), each = 2) + mean(means)
  expect_equal(cells, by_hand, ignore_attr = TRUE)
})

test_that("combinations that were never shown are a sentence, and so are attributes that can't be told apart", {
  profiles <- made_profiles()
  expect_match(amie(profiles, "chosen", c("job", "school"))$fits$error, "never shown together: \"doctor and none\"")
  profiles$again <- profiles$group
  expect_match(amce(profiles, "chosen", c("group", "again"))$fits$error, "Can't tell apart from the other levels")
  expect_error(amce(profiles, "chosen", c("group", "job"), linked = list("group")), "a list of pairs of attributes")
})

test_that("a missing choice is left out and counted, and few clusters have the errors that hold for few", {
  profiles <- made_profiles(n_people = 12)
  profiles$chosen[1:4] <- NA
  fit <- amce(profiles, "chosen", "group", "person")
  expect_equal(unique(fit$tables$levels$method), "CR2")
  expect_equal(unique(fit$tables$levels$n_clusters), 10)
  expect_equal(fit$fits$n_missing, 4)
})

test_that("the published effects and means of a conjoint come out to the digits that were kept", {
  data <- immigration()
  people <- data$table("people.csv")
  profiles <- transform(data$profiles, weight = people$weight[match(person, people$person)])
  expected <- data$recomputed[data$recomputed$subset == "all" & data$recomputed$outcome == "chosen", ]
  compare <- function(found, quantity, weights = "none") {
    wanted <- expected[expected$quantity == quantity & expected$weights == weights, ]
    found <- found$estimates[match(level_terms(wanted$attribute, wanted$level), found$estimates$term), ]
    expect_lt(max(abs(found$estimate - wanted$estimate), abs(found$std_error - wanted$se)), 1e-8)
  }
  linked <- list(c("education", "job"), c("origin", "reason"))
  attributes <- data$attributes
  compare(amce(profiles, "chosen", attributes, "person", "weight", linked, data$levels), "AMCE", "weight")
  compare(amce(profiles, "chosen", attributes, "person", NULL, linked, data$levels), "AMCE")
  compare(marginal_means(profiles, "chosen", attributes, "person"), "marginal mean")
  compare(marginal_means(profiles, "chosen", attributes, "person", "weight"), "marginal mean", "weight")
})
