# Claims about correlations, ratios, choices, missing answers and pooled effects; bench/truth.R runs them.

# Units of two measures whose effects of models, tests and cells correlate by `rho`.
related_measures <- function(n_models, n_tests, rho) {
  pairs <- function(n, sd) {
    x <- stats::rnorm(n)
    sd * cbind(x, rho * x + sqrt(1 - rho^2) * stats::rnorm(n))
  }
  model <- rep(seq_len(n_models), each = n_tests)
  test <- rep(seq_len(n_tests), n_models)
  true <- pairs(n_models, .38)[model, ] + pairs(n_tests, .32)[test, ] + pairs(length(model), .24)
  error <- .06
  data.frame(
    model, test, x = true[, 1] + stats::rnorm(length(model), sd = error),
    y = true[, 2] + stats::rnorm(length(model), sd = error), x_error = error, y_error = error
  )
}

# The logarithm of the ratio of medians of counts in steps of 64, as fit_censored() has it without its other families
# (which take a second a fit), and next to it `naive`, the standard error of independent answers.
clustered_ratio <- function(trials) {
  model <- censored_lognormal(trials$tokens, 64, trials$condition == "incompatible")
  clusters <- clusters_of(trials, c("wording", "item"), "simulate")
  row <- censored_estimates(model, "effect", clusters)[2, ]
  c(as.list(row[c("estimate", "std_error", "df")]), naive = sqrt(stats::vcov(model)[2, 2]))
}

claims_of_measures <- list(
  # Two measures of the same models and tests: intervals of their correlations where units depend on each other, and how
  # often measures that have nothing to do with each other are said to agree. Standard deviations between models,
  # between tests and between cells are those that meta_analysis() found in the RM-IAT.
  validity = function(n) {
    designs <- list(c(5, 10, 0), c(5, 10, .6), c(8, 10, .6), c(12, 6, .3))
    rows <- lapply(seq_along(designs), function(number) {
      design <- designs[[number]]
      name <- sprintf("%g models × %g tests, r %g", design[[1]], design[[2]], design[[3]])
      rows_of <- c("corrected", "between_models", "between_tests", "within_cells")
      holds <- with_seed(number, vapply(seq_len(n), function(data_set) {
        units <- related_measures(design[[1]], design[[2]], design[[3]])
        found <- suppressWarnings(level_correlations(units, .05, 2000))[rows_of, ]
        p_value <- if (design[[3]] == 0) permutation_p_values(units)[["pearson"]] else NA
        c(found[, 2] <= design[[3]] & design[[3]] <= found[, 3], is_found = p_value < .05)
      }, logical(5)))
      held_by_row <- lapply(rows_of, function(row) {
        held(sprintf("95 %% intervals of the correlation of measures hold it (%s)", row), name, holds[row, ], .93)
      })
      false_positives <- if (design[[3]] == 0) {
        list(held("measures without a relation: p < .05 by permutation", name, holds["is_found", ], 0, .05))
      }
      do.call(rbind, c(held_by_row, false_positives))
    })
    do.call(rbind, rows)
  },
  # Effects at words in two models: intervals of their correlation without errors, and p where they have none.
  same_words = function(n) {
    designs <- list(c(50, 20, 30, 0), c(50, 20, 30, .6), c(16, 20, 30, .6), c(50, 20, 15, .6))
    rows <- lapply(seq_along(designs), function(number) {
      design <- designs[[number]]
      n_words <- design[[1]]
      in_model <- function(true) {
        error <- matrix(stats::rnorm(n_words * design[[2]], sd = 60 * sqrt(2)), n_words)
        shift <- stats::rnorm(design[[2]], sd = 20)
        fit <- additive_fit(true + error + rep(shift, each = n_words))
        frame_of(item = seq_len(n_words), group = rep("", n_words), estimate = fit$estimate, std_error = fit$std_error)
      }
      found <- with_seed(number, lapply(seq_len(n), function(data_set) {
        first <- stats::rnorm(n_words)
        second <- design[[4]] * first + sqrt(1 - design[[4]]^2) * stats::rnorm(n_words)
        correlated_words(in_model(design[[3]] * first), in_model(design[[3]] * second), .05)
      }))
      found <- do.call(rbind, found)
      name <- sprintf("%g words × %g wordings, SD %g, r %g", n_words, design[[2]], design[[3]], design[[4]])
      has_interval <- !is.na(found$conf_low)
      holds <- (found$conf_low <= design[[4]] & design[[4]] <= found$conf_high)[has_interval]
      rbind(
        held("95 % intervals of correlations of effects at words without errors hold it", name, holds, .93),
        printed("effects at words are reliable enough to have one", name, has_interval),
        if (design[[4]] == 0) {
          held("effects at words without a relation: p < .05", name, found$p_value < .05, 0, .05)
        }
      )
    })
    do.call(rbind, rows)
  },
  # Missing answers that all went the way that makes a difference largest: Imbens and Manski's intervals.
  missing = function(n) {
    holds <- with_seed(1, vapply(seq_len(5 * n), function(data_set) {
      answers <- list(stats::runif(100) < .55, stats::runif(100) < .5)
      answers[[1]][answers[[1]] & stats::runif(100) < .2] <- NA
      answers[[2]][!answers[[2]] & stats::runif(100) < .2] <- NA
      found <- bounds_of_difference(answers[[1]], answers[[2]], "answer")
      c(
        bounds = found$bounds_conf_low <= .05 && .05 <= found$bounds_conf_high,
        valid = found$conf_low <= .05 && .05 <= found$conf_high
      )
    }, c(bounds = NA, valid = NA)))
    name <- "100 answers in each of two conditions, 10 % missing"
    rbind(
      held("Imbens and Manski's 95 % intervals hold a difference, however answers are missing", name,
           holds["bounds", ], .93),
      printed("those of valid answers", name, holds["valid", ])
    )
  },
  # Occasions: the intraclass correlation of what trials of a cell differ by, with means of cells that differ much.
  retest = function(n) {
    rows <- lapply(c(0, .4), function(icc) {
      cells <- rep(1:8, each = 25)
      holds <- with_seed(1, vapply(seq_len(5 * n), function(data_set) {
        true <- 150 * stats::rnorm(8)[cells] + sqrt(icc) * 100 * stats::rnorm(200)
        values <- lapply(1:2, function(occasion) true + sqrt(1 - icc) * 100 * stats::rnorm(200))
        found <- residual_icc(values[[1]], values[[2]], cells, .05)
        raw <- intraclass_correlation(do.call(cbind, values))[1, ]
        c(residual = found[[2]] <= icc && icc <= found[[3]], raw = raw$conf_low <= icc && icc <= raw$conf_high)
      }, c(residual = NA, raw = NA)))
      name <- sprintf("8 cells of 25 trials, ICC %g", icc)
      rbind(
        held("95 % intervals of the correlation of occasions within cells hold it", name, holds["residual", ], .93),
        printed("those of all trials, whose cells differ", name, holds["raw", ])
      )
    })
    do.call(rbind, rows)
  },
  # Pooled effects of models and tests that vary as those of the RM-IAT: the mean, and what is new.
  meta = function(n) {
    found <- with_seed(1, vapply(seq_len(n), function(data_set) {
      cells <- expand.grid(model = paste0("m", 1:5), test = paste0("t", 1:10))
      true <- stats::rnorm(5, .4, .38)[cells$model] + stats::rnorm(10, 0, .32)[cells$test] + stats::rnorm(50, 0, .24)
      cells$std_error <- stats::runif(50, .05, .15)
      cells$estimate <- true + stats::rnorm(50, sd = cells$std_error)
      pooled <- suppressWarnings(suppressMessages(meta_analysis(cells)))
      holds <- function(row, value) {
        one <- pooled[pooled$row == row, ]
        one$conf_low <= value && value <= one$conf_high
      }
      new <- .4 + stats::rnorm(3, 0, c(.32, .38, .24))
      c(
        mean = holds("mean", .4), new_test = holds("new_test", new[[1]]), new_model = holds("new_model", new[[2]]),
        new_cell = holds("new_cell", sum(new) - .8)
      )
    }, c(mean = NA, new_test = NA, new_model = NA, new_cell = NA)))
    do.call(rbind, lapply(rownames(found), function(row) {
      held(sprintf("95 %% intervals of pooled effects hold it (%s)", row), "5 models × 10 tests", found[row, ], .93)
    }))
  },
  # Ratios of medians of counts in steps of 64, with errors over wordings and words: 95 % intervals hold the ratio.
  # Effects vary by word and wording (standard deviations .15 of the logarithm, of trials .6).
  censored = function(n) {
    designs <- list(c(16, 20), c(8, 20), c(16, 4))
    rows <- lapply(seq_along(designs), function(number) {
      size <- designs[[number]]
      of <- function(k) {
        logs <- simulate_crossed_trials(size[[1]], size[[2]], 1, log(1.2), list(
          wording = .0225, word = .0225, residual = .36, word_intercept = .04, wording_intercept = .01
        ), 1000 * number + k)
        logs$tokens <- 64 * floor(exp(logs$tokens - 200 + log(400)) / 64)
        fit <- suppressMessages(clustered_ratio(logs))
        independent <- stats::qnorm(.975) * fit$naive
        c(
          holds = abs(fit$estimate - log(1.2)) <= stats::qt(.975, fit$df) * fit$std_error,
          holds_plain = abs(fit$estimate - log(1.2)) <= independent
        )
      }
      found <- vapply(seq_len(n), of, c(holds = 1, holds_plain = 1))
      name <- sprintf("%g × %g", size[[1]], size[[2]])
      rbind(
        held("95 % intervals of ratios over words and wordings hold the ratio", name, found["holds", ] == 1, .93),
        printed("those of independent answers", name, found["holds_plain", ] == 1)
      )
    })
    do.call(rbind, rows)
  },
  # Logistic regressions over clusters: decisions on D, whose slope and share differ by cluster; 30 decisions in each.
  logistic = function(n) {
    rows <- lapply(c(21, 16, 10), function(n_clusters) {
      found <- with_seed(n_clusters, vapply(seq_len(n), function(k) {
        cluster <- rep(seq_len(n_clusters), each = 30)
        d <- pmax(-1, pmin(1, stats::rnorm(length(cluster), .3, .3) + stats::rnorm(n_clusters, 0, .4)[cluster]))
        shift <- stats::rnorm(n_clusters, 0, .7)[cluster]
        rows <- data.frame(d, cluster, y = stats::rbinom(length(d), 1, stats::plogis(.4 + shift)))
        fit <- fit_logistic(rows, "y ~ d", cluster = "cluster")
        independent <- summary(stats::glm(y ~ d, "binomial", rows))$coefficients
        p <- c(fit$tables$clustered$p_value[[2]], independent["d", "Pr(>|z|)"])
        c(clustered = p[[1]] < .05, plain = p[[2]] < .05)
      }, c(clustered = 1, plain = 1)))
      name <- sprintf("%g clusters of 30", n_clusters)
      rbind(
        held("p < .05 over clusters where D decides nothing", name, found["clustered", ] == 1, 0, .07),
        printed("p < .05 of independent decisions there", name, found["plain", ] == 1)
      )
    })
    do.call(rbind, rows)
  },
  # Probabilities of counts in steps, in the middle and far out: to a millionth of what adding up single counts gives.
  tails = function(n) {
    holds <- with_seed(1, vapply(seq_len(n), function(k) {
      mu <- exp(stats::runif(1, 2, 7))
      size <- exp(stats::runif(1, -1, 4))
      step <- sample(c(8, 64), 1)
      count <- step * floor(mu * exp(stats::runif(1, -3, 3)) / step)
      single <- stats::dnbinom(count + seq_len(step) - 1, size = size, mu = mu, log = TRUE)
      exact <- max(single) + log(sum(exp(single - max(single))))
      abs(interval_of_negative_binomial(count, step, log(mu), size) - exact) < 1e-6 * max(1, abs(exact))
    }, NA))
    held("log probabilities of a negative binomial in steps are exact to a millionth", "means 7 to 1,100", holds, 1)
  }
)
