#' What do choices in a game go by? Conditional logits of games
#'
#' Which group is chosen in each round, by what was seen before it: `survival::clogit()` with a set a round and standard
#' errors over games. A description, not a cause: what was seen is the outcome of earlier choices, and differences
#' between games look like staying (`last`, `sqrt_tries`). [run_fit()]'s `"learning"` lets games differ.
#'
#' Terms, each of the group in the class of the round: `mean`, (successes + 1) / (tries + 2); `sqrt_tries`, the root of
#' its tries; `last`, 1 if it was chosen last in this class; `last_won`, 1 if that choice also succeeded; `others_mean`,
#' as `mean`, of its tries in all other classes (where there are several); `shown_first`, 1 if it was named first (where
#' the data say so). What never varies is left out, with a message. Where choices are separated (no finite estimate), a
#' warning names the terms, and all estimates have Firth's penalty.
#'
#' @inheritParams fit_policies
#' @param terms names of the terms, or `NULL` for all that there are.
#' @return The same list of data frames as [fit_lme4()]: `estimates` in log odds, robust standard errors over games (of
#'   fewer than 40, times sqrt(G / (G - 1))), t with G - 1 degrees of freedom. `tables$terms` has for each term `vif`
#'   (its variance inflation) and `is_penalised`; `tables$sets` one row: `n_games`, `n_choices`, `nats` (minus the log
#'   likelihood of a choice) and `chance_nats`.
#' @source McFadden (1974); Lin & Wei (1989); Firth (1993); Heinze & Schemper (2001).
#' @noRd
fit_choice <- function(data, by = NULL, terms = NULL, save_to = NULL) {
  check_arguments()
  need_package("survival", "fit conditional logits")
  fit_one <- function(rounds) fit_choice_of(candidate_rows_of(rounds), terms)
  slant_fit(fit_games(data, by, "fit choices", fit_one, save_to), "survival")
}

choice_terms <- c("mean", "sqrt_tries", "last", "last_won", "others_mean", "shown_first")

fit_choice_of <- function(rows, terms) {
  if (sum(rows$last) > 0 && all(rows$is_chosen[rows$last == 1])) {
    stop_with(
      "Can't fit choices: each repeats the last of its class.",
      "Who never varies shows nothing of what choices go by: fit games that have failures, or more of them."
    )
  }
  terms <- independent_terms(rows, varying_terms(rows, terms))
  model <- with_robust_error(rows, terms)
  separated <- separated_terms(model, rows)
  if (length(separated) > 0) {
    warning(sprintf(
      "Choices are separated by %s: no finite estimate is likeliest. All estimates have Firth's penalty.",
      toString(separated)
    ), call. = FALSE)
    model <- penalised_logit(rows, terms)
  }
  n_games <- length(unique(rows$game))
  few <- if (n_games > 1 && n_games < fewest_clusters) n_games / (n_games - 1) else 1
  std_error <- unname(sqrt(few * diag(model$var)))
  covariance <- if (is.null(model$naive.var)) model$var else model$naive.var
  log_lik <- choice_log_likelihood(rows, terms, model$coefficients)
  n <- sum(rows$is_chosen)
  list(
    estimates = tested_rows(terms, unname(model$coefficients), std_error, if (n_games > 1) n_games - 1 else Inf),
    fit = list(
      n_groups = n_games, log_lik = log_lik, aic = 2 * length(terms) - 2 * log_lik,
      bic = length(terms) * log(n) - 2 * log_lik, singular = FALSE,
      optimiser = if (length(separated) > 0) "Firth's penalty, BFGS" else "survival::coxph by round, t over games"
    ),
    tables_of_group = list(
      terms = frame_of(
        term = terms, vif = if (length(terms) < 2) 1 else unname(diag(solve(stats::cov2cor(covariance)))),
        is_penalised = rep(length(separated) > 0, length(terms))
      ),
      sets = frame_of(
        n_games = n_games, n_choices = n, nats = -log_lik / n,
        chance_nats = log(nrow(rows) / n), has_separation = length(separated) > 0
      )
    ),
    model = model
  )
}

# One row a group in a round with a choice: `game`, `set`, `is_chosen` and the terms.
candidate_rows_of <- function(rounds) {
  past <- past_of(rounds, c("tries", "wins", "last", "has_won"))
  seen <- past$seen
  n_groups <- length(rounds$groups)
  choice <- rounds$choice[past$cell]
  in_all_classes <- earlier_choices(past$game)
  others <- list(
    wins = in_all_classes$counts(choice, n_groups, rounds$reward[past$cell]) - seen$wins,
    tries = in_all_classes$counts(choice, n_groups) - seen$tries
  )
  round <- (past$cell - 1) %/% nrow(rounds$choice) + 1
  group <- rep(seq_len(n_groups), each = length(choice))
  is_last <- as.numeric(rep(seen$last, n_groups) == group)
  place <- cbind(rounds$origin[rep(past$game, n_groups)], rep(round, n_groups), group)
  rows <- frame_of(
    game = rep(past$game, n_groups), set = rep((past$game - 1) * ncol(rounds$choice) + round, n_groups),
    is_chosen = rep(choice, n_groups) == group, mean = as.vector(posterior_means(seen)),
    sqrt_tries = sqrt(as.vector(seen$tries)), last = is_last, last_won = is_last * rep(seen$has_won, n_groups),
    others_mean = as.vector(posterior_means(others)),
    # 1 for the group that was named first in a round of a game, 0 for all where nothing says
    shown_first = if (is.null(rounds$shown)) 0 * group else as.numeric(rounds$shown[place] %in% 1)
  )
  rows[order(rows$set), , drop = FALSE]
}

varying_terms <- function(rows, terms) {
  asked <- if (is.null(terms)) choice_terms else as.character(unlist(terms))
  unknown <- setdiff(asked, choice_terms)
  if (length(unknown) > 0) {
    stop_with(
      sprintf("Can't fit choices by %s.", quoted(unknown)), sprintf("Terms there are: %s.", toString(choice_terms))
    )
  }
  varies <- vapply(rows[asked], function(values) length(unique(values)) > 1, NA)
  if (any(!varies) && !is.null(terms)) message("Without variation, and left out: ", toString(asked[!varies]), ".")
  if (!any(varies)) stop_with("Can't fit choices: no term varies; every game has one round, or one choice only.")
  asked[varies]
}

# Terms of which none is a combination of others within rounds, in their order: as lm() does, later ones are left out.
independent_terms <- function(rows, terms) {
  x <- scale(as.matrix(rows[terms]), center = FALSE)
  sums <- rowsum(x, rows$set, reorder = FALSE)[match(rows$set, unique(rows$set)), , drop = FALSE]
  within <- x - sums / n_in_set(rows$set)
  decomposed <- qr(within, tol = 1e-7)
  kept <- sort(decomposed$pivot[seq_len(decomposed$rank)])
  if (length(kept) == 0) stop_with("Can't fit choices: no term differs between the groups of a round.")
  if (length(kept) < length(terms)) {
    message("Combinations of other terms, and left out: ", toString(terms[-kept]), ".")
  }
  terms[kept]
}

with_robust_error <- function(rows, terms) {
  formula <- stats::reformulate(c(terms, "strata(set)"), quote(Surv(time, is_chosen)))
  rows$time <- 1
  environment(formula) <- list2env(list(Surv = survival::Surv, strata = survival::strata), parent = environment())
  one_game <- length(unique(rows$game)) < 2
  if (one_game) warning("One game: standard errors are within it, and say nothing of other games.", call. = FALSE)
  clusters <- if (!one_game) list(cluster = rows$game)
  fit <- tryCatch(watched_fit(formula, rows, clusters), error = function(e) NULL) # of an infinite test
  if (is.null(fit)) fit <- tryCatch(watched_fit(formula, rows)[c("coefficients", "run_off")], error = function(e) NULL)
  if (is.null(fit)) fit <- list(coefficients = stats::setNames(rep(NA_real_, length(terms)), terms))
  fit
}

# With `run_off`, the estimates that have no finite value, by number: coxph() says so in a warning.
watched_fit <- function(formula, rows, clusters = NULL) {
  said <- character()
  fit <- withCallingHandlers(
    do.call(survival::coxph, c(list(formula, data = rows, method = "breslow"), clusters)),
    warning = function(condition) {
      said <<- c(said, conditionMessage(condition))
      invokeRestart("muffleWarning")
    }
  )
  infinite <- grep("may be infinite", said, value = TRUE)
  fit$run_off <- as.integer(unlist(regmatches(infinite, gregexpr("[0-9]+", infinite))))
  fit
}

# Terms whose estimate runs off, or whose effect of one standard deviation of the term is beyond any odds, or that say
# each choice alone. All of them where there is no test and none of them is known to be.
separated_terms <- function(model, rows, limit = 10) {
  estimates <- model$coefficients
  names <- names(estimates)
  effect <- estimates * vapply(rows[names], stats::sd, 0)
  has_test <- !is.null(model$var)
  is_off <- is.na(effect) | abs(effect) > limit | seq_along(names) %in% model$run_off | vapply(
    rows[names], separates, NA, is_chosen = rows$is_chosen, n_in_set = n_in_set(rows$set)
  )
  if (has_test) is_off <- is_off | !is.finite(diag(model$var))
  if (has_test || any(is_off)) names[is_off] else names
}

# Whether what was chosen never has less (or never more) of a term than any other of its round.
separates <- function(values, is_chosen, n_in_set) {
  above <- rep(values[is_chosen], each = n_in_set) - values
  any(above != 0) && (all(above >= 0) || all(above <= 0))
}

# The likelihood of conditional logits with Jeffreys' prior; the covariance is a sandwich over games, as without it.
penalised_logit <- function(rows, terms) {
  x <- as.matrix(rows[terms])
  information <- function(b) { # rows are in the order of their sets, each with as many groups
    p <- shares_in_sets(x, rows$set, b)
    n <- n_in_set(rows$set)
    means <- rowsum(x * p, rows$set, reorder = FALSE)[rep(seq_len(nrow(x) / n), each = n), ]
    crossprod((x - means) * sqrt(p))
  }
  loss <- function(b) {
    penalty <- determinant(information(b))$modulus / 2
    value <- -choice_log_likelihood(rows, terms, b) - as.numeric(penalty)
    if (is.finite(value)) value else 1e10 # far out, where shares are 0 or 1 and nothing is known
  }
  found <- stats::optim(stats::setNames(rep(0, length(terms)), terms), loss, method = "BFGS")
  inverse <- solve(information(found$par))
  scores <- rowsum(x * (rows$is_chosen - shares_in_sets(x, rows$set, found$par)), rows$game)
  list(coefficients = found$par, var = inverse %*% crossprod(scores) %*% inverse, naive.var = inverse)
}

shares_in_sets <- function(x, set, b) {
  utility <- matrix(x %*% b, nrow = n_in_set(set))
  highest <- row_maxima(t(utility))
  weight <- exp(utility - rep(highest, each = nrow(utility)))
  as.vector(weight / rep(colSums(weight), each = nrow(weight)))
}

n_in_set <- function(set) sum(set == set[[1]])

choice_log_likelihood <- function(rows, terms, b) {
  sum(log(shares_in_sets(as.matrix(rows[terms]), rows$set, b)[rows$is_chosen]))
}
