# The gate: what pages and help claim of errors and intervals, simulated; bench/truth.py. From the checkout:
#
#   Rscript bench/truth.R CLAIM DATA_SETS     prints a JSON array, one object a row
#   Rscript bench/truth.R                     prints the names of the claims
#
# A claim is a function of the number of data sets that gives rows of `held()`. Whoever claims something new adds one.
for (file in list.files("R", full.names = TRUE)) source(file)
for (name in c("simulations", "balanced")) source(sprintf("tests/testthat/helper-%s.R", name))

# A row: a share of data sets, between `least` and `most` if the claim is right. `holds`: one logical a data set.
held <- function(claim, design, holds, least = 0, most = 1) {
  data.frame(claim, design, value = mean(holds), n = length(holds), least, most)
}

# A row whose number is only printed.
printed <- function(claim, design, holds) held(claim, design, holds)

# words, wordings, standard deviations of the effect between wordings and between words; trials have 60.
ten_designs <- list(
  c(16, 20, 0, 0), c(16, 20, 5, 10), c(16, 20, 10, 20), c(8, 20, 10, 20), c(8, 20, 20, 20), c(8, 4, 0, 0),
  c(8, 4, 20, 20), c(16, 4, 10, 20), c(40, 20, 5, 10), c(24, 12, 5, 10)
)

design_name <- function(design) sprintf("%g × %g, SD %g/%g", design[[1]], design[[2]], design[[3]], design[[4]])

design_variances <- function(design) {
  list(wording = design[[3]]^2, word = design[[4]]^2, residual = 3600, word_intercept = 400, wording_intercept = 100)
}

# The same and the half-width that is waited for.
stopped_designs <- list(
  c(16, 20, 10, 20, 14), c(16, 20, 10, 20, 12), c(8, 4, 10, 20, 25), c(16, 4, 10, 20, 16), c(8, 4, 20, 30, 25),
  c(8, 5, 20, 20, 20)
)

# One study by what was found at each look: whether it stopped, whether its interval there holds the effect, and whether
# that without the margin does.
stopped_study <- function(design, found) {
  half_width <- stats::qt(.975, found[, "df"]) * found[, "std_error"]
  wide <- half_width * width_margin(found[, "df"])
  at <- which(wide <= design[[5]])[1]
  error <- abs(found[, "estimate"] - 10)
  last <- nrow(found)
  if (is.na(at)) {
    return(c(has_stopped = 0, holds = error[[last]] <= half_width[[last]], holds_plain = NA))
  }
  c(has_stopped = 1, holds = error[[at]] <= wide[[at]], holds_plain = error[[at]] <= half_width[[at]])
}

within_t <- function(found, effect, df = found[, "df"]) {
  abs(found[, "estimate"] - effect) <= stats::qt(.975, df) * found[, "std_error"]
}

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
# (which take a second a fit), and beside it `naive`, the standard error of independent answers.
clustered_ratio <- function(trials) {
  model <- censored_lognormal(trials$tokens, 64, trials$condition == "incompatible")
  clusters <- clusters_of(trials, c("wording", "item"), "simulate")
  row <- censored_estimates(model, "effect", clusters)[2, ]
  c(as.list(row[c("estimate", "std_error", "df")]), naive = sqrt(stats::vcov(model)[2, 2]))
}

claims <- list(
  # 95 % intervals over words and wordings, whatever the variances, and where both of the effect were estimated as 0;
  # what degrees of freedom capped at the fewest words or wordings less 1 would reach there, with the model's own
  # standard error (the same in a balanced study).
  # Five times as many data sets as elsewhere: few have both at 0, and they are quick.
  crossed = function(n) {
    all <- lapply(seq_along(ten_designs), function(number) {
      design <- ten_designs[[number]]
      found <- with_seed(number, do.call(rbind, lapply(seq_len(5 * n), function(data_set) {
        simulate_balanced_effects(design[[1]], design[[2]], 1, 10, design_variances(design))
      })))
      capped <- within_t(found, 10, min(design[1:2]) - 1)
      list(holds = within_t(found, 10), is_zero = found[, "n_zero"] == 2, capped = capped)
    })
    rows <- lapply(seq_along(all), function(number) {
      of <- all[[number]]
      name <- design_name(ten_designs[[number]])
      rbind(
        held("95 % intervals over words and wordings hold the effect", name, of$holds, .93),
        held("the same, both variances of the effect estimated as 0", name, of$holds[of$is_zero], .90),
        printed("there, with degrees of freedom capped", name, of$capped[of$is_zero])
      )
    })
    pooled <- held(
      "95 % intervals over words and wordings hold the effect", "all ten designs",
      unlist(lapply(all, `[[`, "holds")), .93
    )
    do.call(rbind, c(rows, list(pooled)))
  },
  # Stopping on width: a look after each of at most 8 repetitions. Intervals have the margin for a variance that may be
  # underestimated where the study stopped, and are the model's own where all repetitions were asked.
  stopping = function(n) {
    rows <- lapply(seq_along(stopped_designs), function(number) {
      design <- stopped_designs[[number]]
      ends <- with_seed(number, vapply(seq_len(5 * n), function(data_set) {
        stopped_study(design, simulate_balanced_effects(design[[1]], design[[2]], 1:8, 10, design_variances(design)))
      }, c(has_stopped = 1, holds = 1, holds_plain = 1)))
      has_stopped <- ends["has_stopped", ] == 1
      name <- sprintf("%s, ±%g", design_name(design), design[[5]])
      rbind(
        held("a run that may stop on width: its interval holds the effect", name, ends["holds", ] == 1, .93),
        held("of those that stopped, with the margin", name, ends["holds", has_stopped] == 1, .93),
        printed("of those that stopped, without the margin", name, ends["holds_plain", has_stopped] == 1),
        printed("share that stopped", name, has_stopped)
      )
    })
    do.call(rbind, rows)
  },
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
        p <- c(fit$tables$clustered$p_value[[2]], fit$estimates$p_value[[2]])
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
  # Corrections: 43 cells in which nothing is, by p over words and wordings and by the p of a model that knows of no
  # words. Holm's method leaves any of them in alpha of families at most.
  corrections = function(n) {
    size <- c(16, 20)
    variances <- design_variances(c(size, 10, 20))
    families <- with_seed(7, vapply(seq_len(n), function(family) {
      found <- do.call(rbind, lapply(1:43, function(cell) {
        simulate_balanced_effects(size[[1]], size[[2]], 1, 0, variances)
      }))
      p <- 2 * stats::pt(-abs(found[, "estimate"]) / found[, "std_error"], found[, "df"])
      # the standard error that the two conditions have where effects are alike for all words and wordings
      plain <- 2 * sqrt(3600 / (2 * prod(size)))
      p_plain <- 2 * stats::pnorm(-abs(found[, "estimate"]) / plain)
      any_holm <- function(p) any(check_corrections(data.frame(p_value = p))$is_significant_holm)
      c(crossed = any_holm(p), plain = any_holm(p_plain))
    }, c(crossed = 1, plain = 1)))
    name <- "43 cells, 16 × 20, SD 10/20"
    rbind(
      held("any cell left by Holm's correction of p over words and wordings, where nothing is", name,
           families["crossed", ] == 1, 0, .05),
      printed("the same of p that takes effects as alike", name, families["plain", ] == 1)
    )
  },
  # The closed form of balanced studies is what fit_crossed() fits: differences in percent of the standard error.
  closed_form = function(n) {
    differences <- vapply(seq_len(min(n, 20)), function(seed) {
      n_repetitions <- 1 + seed %% 3
      design <- ten_designs[[1 + seed %% 8]]
      trials <- simulate_crossed_trials(8, 5, n_repetitions, 10, design_variances(design), seed)
      ours <- suppressMessages(fit_crossed(trials, levels = c("compatible", "incompatible")))$tables$effects
      keys <- list(trials$item, trials$wording, trials$condition)
      cells <- tapply(trials$tokens, keys, mean)
      within <- sum((trials$tokens - stats::ave(trials$tokens, trials$item, trials$wording, trials$condition))^2)
      theirs <- balanced_effect(array(cells, dim(cells)), n_repetitions, within)
      max(abs(theirs[c("std_error", "df")] / unlist(ours[c("std_error", "df")]) - 1))
    }, 1)
    claim <- "the closed form of the simulations is fit_crossed(), to .2 %"
    held(claim, "8 × 5, 1 to 3 repetitions", differences < .002, 1)
  }
)

words <- commandArgs(TRUE)
if (length(words) == 0) {
  writeLines(names(claims))
} else {
  rows <- claims[[words[[1]]]](as.integer(words[[2]]))
  values <- lapply(rows, function(column) if (is.numeric(column)) format(column, digits = 15, trim = TRUE) else {
    sprintf("\"%s\"", gsub("\"", "\\\"", column, fixed = TRUE))
  })
  fields <- Map(function(name, value) sprintf("\"%s\": %s", name, value), names(rows), values)
  objects <- do.call(paste, c(unname(fields), sep = ", "))
  cat("[", paste0("{", objects, "}", collapse = ", "), "]\n", sep = "")
}
