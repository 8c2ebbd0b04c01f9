# Bounds of 1e-12 are relative to d, or absolute where d is below 1.
expect_as_effsize <- function(reference, other) {
  skip_if_not_installed("effsize")
  mine <- cohens_d(reference, other)
  its <- effsize::cohen.d(other, reference)
  unlike <- unlist(mine[c("estimate", "std_error", "conf_low", "conf_high")], use.names = FALSE) -
    c(its$estimate, sqrt(its$var), unname(its$conf.int))
  expect_lt(max(abs(unlike)) / max(1, abs(mine$estimate)), 1e-12)
}

test_that("d and its interval are those of effsize for groups of any sizes and spreads", {
  withr::local_seed(1)
  for (i in seq_len(300)) {
    n <- sample(c(2:9, 40, 500), 2, replace = TRUE)
    reference <- rnorm(n[[1]], sample(c(-100, 0, 5e4), 1), sample(c(1e-6, 1, 1e5), 1))
    expect_as_effsize(reference, rnorm(n[[2]], mean(reference), sample(c(.01, 1, 100), 1)))
  }
})

test_that("d and its interval are those of effsize for counts in steps of 64, zeros and outliers among them", {
  withr::local_seed(2)
  for (i in seq_len(200)) {
    counts <- function(n) 64 * round(rlnorm(n, 1, sample(c(.2, 1, 2), 1))) * rbinom(n, 1, .9)
    groups <- list(c(64, counts(sample(1:300, 1))), c(0, counts(sample(1:300, 1))))
    if (sd(groups[[1]]) + sd(groups[[2]]) > 0) expect_as_effsize(groups[[1]], groups[[2]])
  }
})

test_that("d and its interval are those of effsize in every cell that the authors published", {
  folder <- shared_path("data", "rmiat")
  files <- list.files(folder, "\\.csv$", recursive = TRUE)
  expect_gt(length(files), 30)
  for (file in files) {
    trials <- published_trials(dirname(file), tools::file_path_sans_ext(basename(file)))
    expect_as_effsize(trials$tokens[trials$condition == "compatible"], trials$tokens[trials$condition != "compatible"])
  }
})
