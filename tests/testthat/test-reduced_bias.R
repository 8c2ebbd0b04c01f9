# Errors over few clusters, next to those of clubSandwich and of R's own lm().

few_clusters <- function() {
  withr::with_seed(1, {
    n <- 200
    rows <- data.frame(person = sample(1:9, n, TRUE), a = sample(letters[1:3], n, TRUE))
    rows$b <- sample(LETTERS[1:4], n, TRUE)
    rows$a[rows$person < 3] <- "a"
    rows$weight <- stats::runif(n, .5, 2)
    rows$y <- stats::rnorm(n) + stats::rnorm(9)[rows$person]
    rows
  })
}

test_that("CR2 and Satterthwaite's degrees of freedom are those of clubSandwich, with weights and without", {
  skip_if_not_installed("clubSandwich")
  rows <- few_clusters()
  for (weights in list(NULL, "weight")) {
    w <- if (is.null(weights)) rep(1, 200) else rows$weight
    additive <- if (is.null(weights)) stats::lm(y ~ a + b, rows) else stats::lm(y ~ a + b, rows, weights = w)
    expected <- as.data.frame(clubSandwich::coef_test(additive, "CR2", cluster = rows$person, test = "Satterthwaite"))
    found <- amce(rows, "y", c("a", "b"), "person", weights)$estimates
    expect_equal(found$std_error, expected$SE[-1])
    expect_equal(found$df, expected$df_Satt[-1])
    levels <- if (is.null(weights)) stats::lm(y ~ 0 + a, rows) else stats::lm(y ~ 0 + a, rows, weights = w)
    expected <- as.data.frame(clubSandwich::coef_test(levels, "CR2", cluster = rows$person, test = "Satterthwaite"))
    found <- marginal_means(rows, "y", "a", "person", weights)$estimates
    expect_equal(found$std_error, expected$SE)
    expect_equal(found$df, expected$df_Satt)
  }
})

test_that("the same weight for all rows changes nothing", {
  rows <- transform(few_clusters(), two = 2)
  expect_equal(
    amce(rows, "y", c("a", "b"), "person", "two")$estimates, amce(rows, "y", c("a", "b"), "person")$estimates
  )
})

test_that("with forty clusters at each level errors are HC1, with fewer at one level CR2", {
  y <- withr::with_seed(1, stats::rnorm(240))
  rows <- data.frame(person = rep(1:60, each = 4), a = rep(c("a", "b"), 120), y = y)
  expect_equal(marginal_means(rows, "y", "a", "person")$tables$levels$method, c("HC1", "HC1"))
  rows$a[rows$person > 30] <- "a"
  expect_equal(marginal_means(rows, "y", "a", "person")$tables$levels$n_clusters, c(30, 30))
  expect_equal(marginal_means(rows, "y", "a", "person")$tables$levels$method, c("CR2", "CR2"))
  printed <- marginal_means(rows, "y", "a", "person", correction = "cregg")
  expect_equal(printed$tables$levels$method, c("cregg", "cregg"))
})

test_that("two ways of clustering add up, and a negative variance falls back to the larger one", {
  rows <- few_clusters()
  rows$template <- rep(1:20, 10)
  both <- amce(rows, "y", "a", c("person", "template"))
  of <- function(cluster) {
    model <- stats::lm(y ~ a, rows)
    as.data.frame(clubSandwich::coef_test(model, "CR2", cluster = cluster, test = "Satterthwaite"))$SE[-1]^2
  }
  skip_if_not_installed("clubSandwich")
  sum <- of(rows$person) + of(rows$template) - of(paste(rows$person, rows$template))
  expect_equal(both$estimates$std_error, sqrt(ifelse(sum <= 0, pmax(of(rows$person), of(rows$template)), sum)))
  expect_equal(unique(both$estimates$df), 8)
  expect_equal(grepl("variance would be negative", both$fits$messages), any(sum <= 0))
  expect_match(both$fits$messages, "with fewer than ten, a mixed model")
})
