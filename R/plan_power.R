#' How many words, wordings, repetitions or games does it take?
#'
#' For each number of them: the standard error of the effect, the smallest effect that would be found (minimum
#' detectable effect), the power for a given effect, and the number of calls. From the variances of a pilot, or from
#' those that are expected. A message says which number to raise. `analyze power` adds costs and time.
#'
#' Where words and wordings are drawn from many, every word is asked in every wording and in both conditions
#' `n_repetitions` times, N = 2 * words * wordings * repetitions trials, and the variance of the effect is
#' \deqn{Var(b) = s^2_{wording} / n_{wordings} + s^2_{word} / n_{words} + 4 s^2 / N}
#' with the variances of the effect between wordings and between words (those of both groups), and s2 of trials. More
#' repetitions make the last part alone smaller: no number of them gets below `std_error_endless`. With logical outcomes
#' (forced choices) the effect is a difference of probabilities, s2 the mean of p (1 - p) of words and conditions. In
#' general, for any numbers of trials, the estimate is a weighted sum b = sum(a * y), and each component has
#' `s2 * sum over its groups of (sum of a * z in the group)^2` of its variance, as in [fit_crossed()], whose `shares`
#' have it for the trials that there are; where two groups of n1 and n2 words count alike (`condition * group`), the
#' part of words is `s2_word * (1 / n1 + 1 / n2) / 4`.
#'
#' **Repetitions** are new answers so far as trials vary within a word in a wording and condition: what is special to
#' that combination they share, `s2_combination`, with the part `4 * s2_combination * n_repetitions / N`. A pilot with
#' repetitions knows it ([fit_crossed()]), and `combination` may be given. Else only the sum of the two is known, and
#' the plan is a range: `std_error`, `df`, `mde` and `power` for a share of 0 (each repetition is a new answer), and
#' `std_error_most`, `mde_most` and `power_least` for a share of 1 (a model that answers alike every time, at
#' temperature 0, say: repetitions bring nothing).
#'
#' Degrees of freedom are those of a balanced study by Kenward and Roger: with C the part of trials and combinations,
#' A = s2_wording / n_wordings + C and B = s2_word / n_words + C, Var(b) = A + B - C has
#' `Var(b)^2 / (A^2 / (n_wordings - 1) + B^2 / (n_words - 1) + C^2 / (2 * (n_words - 1) * (n_wordings - 1)))`, also
#' where a variance is 0, for a study does not know that. With fewer than three wordings nothing is said of others.
#'
#' A plan takes variances as known. Simulated, with them estimated (`bench/truth.R`), an effect of the size `mde` is
#' found in 74 to 79 of 100 studies where it says 80: in the fewest where a variance is 0, or there are four wordings.
#'
#' Where games are compared, two conditions of `n_games` each: `Var(difference) = 2 * s2_game / n_games` with
#' `2 * (n_games - 1)` degrees of freedom, and the variance of an index (SI, say) over games of a condition.
#'
#' @param variances a [fit_crossed()], or a data frame with one row per cell (a list is one row): the columns `word`,
#'   `wording` (0 where it is left out), `residual` and `combination` (`NA` or left out: unknown, and part of
#'   `residual`), in squared units of the outcome, or `game`; `sd`, the standard deviation within conditions, if effects
#'   are wanted as d; others name the cell.
#' @param n_words,n_wordings,n_repetitions numbers to cross: words of both groups, wordings, repetitions of each trial.
#' @param n_games numbers of games in each of two conditions, of `n_rounds` rounds.
#' @param n_rounds see `n_games`.
#' @param effect the effect that power is wanted for, in units of the outcome; `NULL`: none.
#' @param power,alpha of the minimum detectable effect, in a two-sided test.
#' @return A data frame with one row per cell and combination: what names the cell, `n_words`, `n_wordings`,
#'   `n_repetitions` (or `n_games`), `n_calls` (trials or rounds of both conditions), `std_error`, `df`, `mde`,
#'   `mde_d` (`NA` without `sd`), `power` (`NA` without `effect`), `std_error_most`, `mde_most`, `power_least`,
#'   `std_error_endless` (of endless repetitions), `share_words`, `share_wordings`, `share_trials` (of the variance;
#'   with that of combinations) and `raise`: doubling which number leaves the smallest `mde`.
#' @source Westfall, Kenny & Judd (2014), Statistical power and optimal design in experiments in which samples of
#'   participants respond to samples of stimuli, Journal of Experimental Psychology: General 143, 2020-2045;
#'   Satterthwaite (1946), An approximate distribution of estimates of variance components, Biometrics Bulletin 2.
#' @seealso [plot_power()]
#' @export
#' @examples
#' plan_power(list(wording = 30, word = 250, residual = 3200, sd = 60), n_words = c(16, 50),
#'   n_repetitions = 1:3)
#' trials <- subset(simulate_trials(), is_valid)
#' pilot <- fit_crossed(trials, levels = c("compatible", "incompatible"), by = c("model", "test"))
#' plan_power(pilot, n_words = c(8, 32), n_wordings = 10, effect = 20)
#' plan_power(list(game = .04), n_games = c(10, 30, 100), effect = .2)
plan_power <- function(variances, n_words = 32, n_wordings = 20, n_repetitions = 1, n_games = 30, n_rounds = 40,
                       effect = NULL, power = .8, alpha = .05) {
  counts <- function(least) {
    list(must_be = sprintf("whole numbers, %d or more", least), is_right = function(values) {
      is.numeric(values) && length(values) > 0 && all(is.finite(values) & values == round(values) & values >= least)
    })
  }
  check_arguments(more = list(
    n_words = counts(2), n_wordings = counts(1), n_repetitions = counts(1), n_games = counts(2)
  ))
  cells <- planned_variances(variances)
  is_of_games <- "game" %in% names(cells)
  numbers <- if (is_of_games) {
    list(n_games = n_games)
  } else {
    list(n_words = n_words, n_wordings = n_wordings, n_repetitions = n_repetitions)
  }
  grid <- rev(do.call(expand.grid, rev(numbers)))
  rows <- expand.grid(number = seq_len(nrow(grid)), cell = seq_len(nrow(cells)))
  of_cell <- cells[rows$cell, , drop = FALSE]
  planned <- with_power(of_cell, grid[rows$number, , drop = FALSE], effect, power, alpha)
  if (is_of_games) planned$n_calls <- planned$n_calls * n_rounds
  keys <- setdiff(names(cells), c("word", "wording", "combination", "residual", "game", "sd"))
  plan <- as_plain_rows(cbind(of_cell[keys], grid[rows$number, , drop = FALSE], planned))
  for (sentence in power_advice(plan, is_of_games)) message(sentence)
  plan
}

planned_variances <- function(variances) {
  cells <- if (inherits(variances, "slant_fit")) variances_of_fit(variances) else as.data.frame(variances)
  of_words <- intersect(c("word", "wording", "combination", "residual"), names(cells))
  if ("game" %in% names(cells) && length(of_words) > 0) {
    stop_with(
      sprintf("Can't plan: there are variances of games and of words (%s); a study has one kind.", quoted(of_words)),
      "Leave out one kind."
    )
  }
  needed <- if ("game" %in% names(cells)) "game" else c("word", "residual")
  if (all(c("group", "term", "variance") %in% names(cells))) {
    stop_with("Can't plan from a table of variances: give the fit itself, as in plan_power(fit_crossed(...)).")
  }
  check_columns(cells, needed, to = "plan")
  if (!"game" %in% names(cells) && is.null(cells$wording)) cells$wording <- 0
  if (is.null(cells$combination)) cells$combination <- NA_real_
  given <- intersect(c("word", "wording", "combination", "residual", "game"), names(cells))
  is_wrong <- vapply(given, function(name) {
    values <- cells[[name]]
    if (name == "combination") values <- as.double(values[!is.na(values)])
    !is.numeric(values) || any(!is.finite(values) | values < 0)
  }, NA)
  if (nrow(cells) == 0 || any(is_wrong)) {
    stop_with("Can't plan: variances must be numbers, 0 or more.", sprintf("Wrong: %s.", quoted(given[is_wrong])))
  }
  if (is.null(cells$sd)) cells$sd <- NA_real_
  cells
}

# One row a cell: the variances of the effect of the contrast, and of trials.
variances_of_fit <- function(fit) {
  shares <- fit$tables$shares
  if (is.null(shares)) {
    stop_with("Can't plan from this fit: it has no variances of effects.", "Plan from fit_crossed().")
  }
  keys <- setdiff(names(fit$fits), names(empty_table("fits")))
  effects <- fit$tables$effects
  sums <- function(rows) {
    if (length(keys) == 0) {
      return(sum(rows$variance))
    }
    codes <- group_codes(rbind(effects[keys], rows[keys]), keys)
    of_cell <- factor(codes[-seq_len(nrow(effects))], levels = codes[seq_len(nrow(effects))])
    vapply(split(rows$variance, of_cell), sum, 1)
  }
  is_slope <- !shares$term %in% c("intercept", "residual") & !grepl(":", shares$term, fixed = TRUE)
  combinations <- shares[shares$group == "combination", ]
  n_combinations <- sums(transform(combinations, variance = rep(1, nrow(combinations))))
  cbind(effects[keys], frame_of(
    word = unname(sums(shares[is_slope & shares$group != "wording", ])),
    wording = unname(sums(shares[is_slope & shares$group == "wording", ])),
    # NA in a cell without repetitions, whose `residual` holds it
    combination = ifelse(unname(n_combinations) > 0, unname(sums(combinations)), NA),
    residual = unname(sums(shares[shares$group == "residual", ])), sd = effects$sd
  ))
}

with_power <- function(cells, numbers, effect, power, alpha) {
  parts <- if ("game" %in% names(cells)) of_games(cells, numbers) else of_words(cells, numbers)
  std_error <- sqrt(parts$variance)
  mde <- minimum_detectable_effect(std_error, parts$df, power, alpha)
  most <- if ("game" %in% names(cells)) parts else of_words(cells, numbers, is_shared = TRUE)
  power_of <- function(parts) {
    if (is.null(effect)) NA_real_ else t_test_power(effect, sqrt(parts$variance), parts$df, alpha)
  }
  frame_of(
    n_calls = parts$n_calls, std_error = std_error, df = parts$df, mde = mde, mde_d = mde / cells$sd,
    power = power_of(parts), std_error_most = sqrt(most$variance),
    mde_most = minimum_detectable_effect(sqrt(most$variance), most$df, power, alpha), power_least = power_of(most),
    std_error_endless = sqrt(parts$endless), share_words = parts$words / parts$variance,
    share_wordings = parts$wordings / parts$variance, share_trials = parts$trials / parts$variance,
    raise = best_to_double(cells, numbers, power, alpha)
  )
}

# The parts of the variance of the effect, and its degrees of freedom. `is_shared`: where the variance of combinations
# is unknown, all of the trials' is theirs, so that repetitions are the same answer; else none of it.
of_words <- function(cells, numbers, is_shared = FALSE) {
  n_calls <- 2 * numbers$n_words * numbers$n_wordings * numbers$n_repetitions
  is_unknown <- is.na(cells$combination)
  combination <- ifelse(is_unknown, if (is_shared) cells$residual else 0, cells$combination)
  residual <- ifelse(is_unknown & is_shared, 0, cells$residual)
  shared <- 4 * combination * numbers$n_repetitions / n_calls
  trials <- 4 * residual / n_calls + shared
  generalises <- numbers$n_wordings >= least_to_generalise
  words <- cells$word / numbers$n_words
  wordings <- ifelse(generalises, cells$wording / numbers$n_wordings, 0)
  variance <- words + wordings + trials
  of_wordings <- (wordings + trials)^2 / pmax(numbers$n_wordings - 1, 1)
  of_words <- (words + trials)^2 / (numbers$n_words - 1)
  of_trials <- trials^2 / pmax(2 * (numbers$n_words - 1) * (numbers$n_wordings - 1), 1)
  df <- variance^2 / (of_words + ifelse(generalises, of_wordings + of_trials, 0))
  list(variance = variance, df = df, n_calls = n_calls, endless = words + wordings + shared, words = words,
       wordings = wordings, trials = trials)
}

of_games <- function(cells, numbers) {
  variance <- 2 * cells$game / numbers$n_games
  list(variance = variance, df = 2 * (numbers$n_games - 1), n_calls = 2 * numbers$n_games, endless = NA_real_,
       words = NA_real_, wordings = NA_real_, trials = NA_real_)
}

# Doubling any of the numbers doubles the calls; the one that leaves the smallest effect to find.
best_to_double <- function(cells, numbers, power, alpha) {
  if ("game" %in% names(cells)) {
    return("games")
  }
  doubled <- vapply(names(numbers), function(name) {
    more <- numbers
    more[[name]] <- 2 * more[[name]]
    parts <- of_words(cells, more)
    mde <- minimum_detectable_effect(sqrt(parts$variance), parts$df, power, alpha)
    # A further wording next to one or two tells what wordings differ by, which is another question.
    if (name == "n_wordings") mde[numbers$n_wordings < least_to_generalise] <- Inf
    mde
  }, double(nrow(cells)))
  doubled <- matrix(doubled, nrow(cells))
  # Words come first: where none of the numbers matters more, more words make the result hold for more.
  best <- apply(doubled, 1, function(row) c(which(row <= 1.01 * min(row)), NA)[[1]])
  sub("n_", "", names(numbers), fixed = TRUE)[best]
}

power_advice <- function(plan, is_of_games) {
  if (is_of_games) {
    return("Twice the games make the standard error 1.41 times smaller; more rounds in a game don't make more games.")
  }
  best <- sort(table(plan$raise), decreasing = TRUE)
  left <- plan$std_error_endless / plan$std_error
  floor <- stats::median(left, na.rm = TRUE)
  n_without <- sum(left < .05, na.rm = TRUE)
  c(
    sprintf(
      "Raise the number of %s: doubling it leaves the smallest effect to find in %d of %s.", names(best)[[1]],
      best[[1]], counted(nrow(plan), "row")
    ),
    if (n_without > 0) {
      sprintf(
        paste(
          "The variances of %d of %s hold next to no effect that differs by word or wording, which a small pilot may",
          "miss: where there is one, repetitions can't replace words, and these rows promise too much."
        ), n_without, counted(nrow(plan), "row")
      )
    },
    if (floor >= .05) {
      sprintf(
        "Repetitions can't replace words: with endless ones, standard errors would still be %.0f %% of these %s.",
        100 * floor, "(in the middle row)"
      )
    },
    if (any(plan$std_error_most > plan$std_error * (1 + 1e-9))) {
      paste(
        "Without repetitions in the pilot, nobody knows how alike they are: from std_error, were each a new answer, to",
        "std_error_most, were they the same answer every time (as at temperature 0)."
      )
    },
    if (any(plan$n_wordings < least_to_generalise)) "With fewer than three wordings, nothing is said of others."
  )
}

# The effect that a two-sided test at `alpha` finds with probability `power`, given its standard error and degrees of
# freedom: `std_error` times the noncentrality at which the t test has that power. All vectors; NA where either is.
# `df` Inf: of a normal estimate. Every column `mde` comes from here.
minimum_detectable_effect <- function(std_error, df, power = .8, alpha = .05) {
  std_error * vapply(df, function(one) noncentrality(one, power, alpha), 1)
}

# What would be found with probability `power` by a normal estimate, were it one of `n_tests` that Holm corrects.
detectable_of <- function(std_error, n_tests, power = .8, alpha = .05) {
  std_error * (stats::qnorm(1 - alpha / 2 / max(1, n_tests)) + stats::qnorm(power))
}

# The noncentrality at which a chi squared test has that power.
noncentrality_of_squares <- function(df, alpha = .05, power = .8) {
  vapply(df, function(one) {
    if (is.na(one) || one <= 0) return(NA_real_)
    critical <- stats::qchisq(alpha, one, lower.tail = FALSE)
    stats::uniroot(function(ncp) stats::pchisq(critical, one, ncp, lower.tail = FALSE) - power, c(.1, 1000))$root
  }, 1)
}

# The probability that a two-sided t test at `alpha` finds an effect: exact under the t distribution.
t_test_power <- function(effect, std_error, df, alpha = .05) {
  critical <- stats::qt(1 - alpha / 2, df)
  ncp <- abs(effect) / std_error
  # pt() of the lower tail is less exact for a large noncentrality, and then nothing is left there.
  lower <- ifelse(ncp < 10, stats::pt(-critical, df, pmin(ncp, 10)), 0)
  stats::pt(critical, df, pmin(ncp, 37), lower.tail = FALSE) + lower
}

noncentrality <- function(df, power, alpha) {
  if (is.na(df) || df <= 0) {
    return(NA_real_)
  }
  missing <- function(ncp) t_test_power(ncp, 1, df, alpha) - power
  # So few degrees of freedom that no effect that can be computed is found often enough.
  if (missing(37) < 0) NA_real_ else stats::uniroot(missing, c(0, 37), tol = 1e-10)$root
}
