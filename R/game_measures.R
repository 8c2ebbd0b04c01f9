# What game_indices(), compare_games() and random_level() share: games counted, measured, and weighted.

# How often, by game, group and class.
game_counts <- function(rows) {
  unclass(table(sorted_factor(rows$game), sorted_factor(rows$choice), sorted_factor(rows$class)))
}

# The same levels in every locale.
sorted_factor <- function(values) factor(values, levels = sort(unique(as.character(values)), method = "radix"))

# `games`: one row per game, the indices within it. `between`: per group, which games it was hired in, which of its
# distributions it had there, and the divergence (natural logarithms) of each pair of distributions. Games share
# distributions, so that thousands of games make few pairs.
measured_games <- function(counts, n_classes = NULL) {
  shares <- class_shares(counts)
  entropy <- rowSums(plogp(shares), dims = 2)
  list(games = indices_within(counts, n_classes), between = lapply(seq_len(dim(counts)[[2]]), function(g) {
    distributions(matrix(shares[, g, ], nrow = dim(counts)[[1]]), entropy[, g])
  }))
}

# Of each group in each game, the share of each class.
class_shares <- function(counts) counts / c(rowSums(counts, dims = 2))

# The indices within each game, a row a game.
indices_within <- function(counts, n_classes = NULL) {
  n_classes <- if (is.null(n_classes)) dim(counts)[[3]] else n_classes
  shares <- class_shares(counts)
  entropy <- rowSums(plogp(shares), dims = 2)
  apart <- pairs_within(shares, entropy)
  games <- data.frame(
    si = si_within(entropy, n_classes),
    bgd = bgd_within(apart),
    mutual_information_bits = information_bits(counts),
    bgd_divergence_bits = rowMeans(apart, na.rm = TRUE) / log(2)
  )
  games[] <- lapply(games, function(values) replace(values, is.nan(values), NA_real_))
  games
}

si_within <- function(entropy, n_classes) pmax(log2(n_classes) - rowMeans(entropy, na.rm = TRUE), 0)

bgd_within <- function(apart) rowMeans(sqrt(apart), na.rm = TRUE)

# -p log2(p), 0 for 0; NaN where nothing was counted.
plogp <- function(p) {
  terms <- -p * log2(p)
  terms[which(p == 0)] <- 0
  terms
}

# Of each game: the entropy of groups, plus that of classes, minus that of both.
information_bits <- function(counts) {
  p <- counts / rowSums(counts)
  of_groups <- rowSums(plogp(rowSums(p, dims = 2)))
  of_classes <- rowSums(plogp(colSums(aperm(p, c(2, 1, 3)))))
  unname(pmax(of_groups + of_classes - rowSums(plogp(p)), 0))
}

# Jensen-Shannon divergence (natural logarithms) of every pair of groups, a column, in every game, a row.
pairs_within <- function(shares, entropy) {
  n_groups <- dim(shares)[[2]]
  if (n_groups < 2) {
    return(matrix(NA_real_, dim(shares)[[1]], 1))
  }
  pairs <- utils::combn(n_groups, 2)
  do.call(cbind, lapply(seq_len(ncol(pairs)), function(k) {
    a <- pairs[1, k]
    b <- pairs[2, k]
    middle <- matrix((shares[, a, ] + shares[, b, ]) / 2, nrow = dim(shares)[[1]])
    pmax(rowSums(plogp(middle)) - (entropy[, a] + entropy[, b]) / 2, 0) * log(2)
  }))
}

# A group's distributions, each once, and in which games it had them.
distributions <- function(shares, entropy) {
  hired <- which(!is.na(entropy))
  key <- do.call(paste, as.data.frame(shares[hired, , drop = FALSE]))
  kinds <- hired[!duplicated(key)]
  apart <- divergences(shares[kinds, , drop = FALSE], entropy[kinds])
  diag(apart) <- 0
  list(hired = hired, kind = match(key, unique(key)), apart = apart)
}

# Jensen-Shannon divergence of every pair of rows of `shares`, as a square.
divergences <- function(shares, entropy) {
  of_class <- lapply(seq_len(ncol(shares)), function(c) plogp(outer(shares[, c], shares[, c], `+`) / 2))
  pmax(Reduce(`+`, of_class) - outer(entropy, entropy, `+`) / 2, 0) * log(2)
}

# All indices, a column each, where game i counts `weights[k, i]` times: a row for each row of weights.
weighted_indices <- function(measured, weights) {
  values <- as.matrix(measured$games)
  is_known <- !is.na(values)
  values[!is_known] <- 0
  within <- (weights %*% values) / (weights %*% is_known)
  between <- lapply(measured$between, function(group) mean_apart(group, weights))
  over_groups <- function(part) rowMeans(matrix(unlist(lapply(between, `[[`, part)), nrow(weights)), na.rm = TRUE)
  indices <- cbind(within, gasi = over_groups("distance"), gasi_divergence_bits = over_groups("bits"))
  indices <- indices[, index_names, drop = FALSE]
  replace(indices, is.nan(indices), NA_real_)
}

# The mean over pairs of games in which a group was hired; a game drawn twice makes no pair with itself.
mean_apart <- function(group, weights) {
  weights <- weights[, group$hired, drop = FALSE]
  of_kind <- t(rowsum(t(weights), group$kind))
  n_pairs <- (rowSums(weights)^2 - rowSums(weights^2)) / 2
  over_pairs <- function(apart) rowSums((of_kind %*% apart) * of_kind) / 2 / n_pairs
  list(distance = over_pairs(sqrt(group$apart)), bits = over_pairs(group$apart) / log(2))
}

# The jackknife's variance of each index over the games of weight 1, a row for each row of weights: leaving out each
# game in turn, apart for each stratum (places of its games). NA where some game can't be spared.
jackknife_variance <- function(measured, weights, strata, indices) {
  by_index <- lapply(left_out_indices(measured, weights, indices), function(values) {
    values[weights == 0] <- 0
    Reduce(`+`, lapply(strata, function(games) {
      of_games <- weights[, games, drop = FALSE]
      n <- rowSums(of_games)
      centred <- (values[, games, drop = FALSE] - rowSums(values[, games, drop = FALSE]) / n) * of_games
      ifelse(n > 0, (n - 1) / n * rowSums(centred^2), 0)
    }))
  })
  matrix(unlist(by_index), nrow(weights), dimnames = list(NULL, indices))
}

# Of each index a matrix: what it is without the game of that column, a row for each row of weights, 1 or 0. What stands
# at games of weight 0 means nothing.
left_out_indices <- function(measured, weights, indices) {
  within <- intersect(indices, names(measured$games))
  left_out <- lapply(measured$games[within], function(values, weights) {
    is_known <- !is.na(values)
    values[!is_known] <- 0
    without <- function(x) matrix(weights %*% x, nrow(weights), length(x)) - rep(x, each = nrow(weights))
    n <- without(+is_known)
    without(values) / replace(n, n <= 0, NA_real_)
  }, weights)
  apart <- list(gasi = sqrt, gasi_divergence_bits = function(divergence) divergence / log(2))
  between <- lapply(apart[intersect(indices, names(apart))], function(scale) {
    by_group <- lapply(measured$between, mean_apart_without, weights, scale)
    Reduce(`+`, lapply(by_group, function(of) replace(of, is.na(of), 0))) / Reduce(`+`, lapply(by_group, Negate(is.na)))
  })
  lapply(c(left_out, between)[indices], function(values) replace(values, is.nan(values), NA_real_))
}

# As mean_apart(). Games in which the group was not hired leave it as it is.
mean_apart_without <- function(group, weights, scale) {
  hired <- weights[, group$hired, drop = FALSE]
  of_kind <- t(rowsum(t(hired), group$kind))
  near <- of_kind %*% scale(group$apart)
  total <- rowSums(near * of_kind) / 2
  over_pairs <- function(total, n) total / ifelse(n > 1, n * (n - 1) / 2, NA_real_)
  without <- matrix(over_pairs(total, rowSums(hired)), nrow(weights), ncol(weights))
  without[, group$hired] <- over_pairs(total - near[, group$kind, drop = FALSE], rowSums(hired) - 1)
  without
}

equal_weights <- function(n) matrix(1, 1, n)

# What `measure` makes of rows that `draw` gives, some at a time: all draws of thousands of games would fill the memory.
measured_draws <- function(n_draws, n_games, draw, measure) {
  at_once <- max(1, 2e6 %/% n_games)
  sizes <- diff(unique(c(seq(0, n_draws, by = at_once), n_draws)))
  do.call(rbind, lapply(sizes, function(size) {
    measure(do.call(rbind, lapply(seq_len(size), function(draw_no) draw())))
  }))
}

# What must not be taken for one cell, or for one game, without a word.

# Stops where sources are mixed in a cell, or where a game has a round twice; warns of models, variants, answer formats
# and games of several lengths that are put together. `between`: the column whose values are compared.
check_games_apart <- function(data, by, between = NULL, to = "measure games") {
  cell <- c(by, between)
  if ("source" %in% names(data) && anyDuplicated(unique(data.frame(group_codes(data, cell), data$source))[[1]]) > 0) {
    stop_with(
      sprintf("Can't %s: rows of more than one source would be put together: %s.", to, quoted(unique(data$source))),
      "Collected, imported and simulated games are never mixed: keep one source, or name \"source\" in `by`."
    )
  }
  warn_of_pooling(data, cell, kinds = c(kinds_of_rows(), "model"))
  # conditions that are compared should not differ in it, either
  warn_of_pooling(data, by, named_columns = between, kinds = "answer_format")
  if ("round" %in% names(data)) {
    known <- data[!is.na(data$round) & !is.na(data$choice), , drop = FALSE]
    game <- data.frame(cell = group_codes(known, cell), game = as.character(known$game))
    if (anyDuplicated(cbind(game, round = known$round)) > 0) {
      stop_with(
        sprintf("Can't %s: a game has a round more than once.", to),
        "`game` must tell games apart within each cell: where several have one name, name in `by` what differs."
      )
    }
    n_rounds <- as.vector(table(paste(game$cell, game$game, sep = "\r")))
    if (length(unique(n_rounds)) > 1) {
      warning(
        sprintf("Games of %d to %d rounds are put together: shorter games stratify more by chance alone. ",
                min(n_rounds), max(n_rounds)),
        "Which were played to their end: the view allocation_games.", call. = FALSE
      )
    }
  }
}

#' The level that chance alone gives to the indices of a hiring game
#'
#' Random hires stratify, too: each group has few, and no few hires are spread evenly. Simulates cells of games in which
#' every job is drawn from all jobs with replacement and every group is as likely as another, and measures them as
#' [game_indices()] does. With 40 rounds, four groups and four classes of five jobs SI is about .275, BGD .296 and
#' GASI .294. With `balanced = TRUE` each job comes equally often: 400 single rounds that are pooled into one game come
#' to an SI of about .0165, and 40 rounds of 20 jobs twice to .218.
#'
#' @param n_rounds rounds of a game.
#' @param n_groups number of groups to choose from.
#' @param class_sizes number of jobs in each class: a class of more jobs is drawn more often.
#' @param balanced whether each job comes equally often, instead of being drawn again each round. `n_rounds` must then
#'   be a multiple of the number of jobs.
#' @param n_games games in a cell: the interval is for the index of a cell of this many games.
#' @param n_cells number of cells to simulate.
#' @param seed of the simulation, a whole number.
#' @return A data frame with one row per index: `index`, `level` (the mean over cells), `level_low` and `level_high`
#'   (where 95 % of cells lie), and what was asked for: `n_rounds`, `n_groups`, `n_classes`, `n_games`, `n_cells`.
#'   NA for GASI of one game.
#' @source Wu, Liu, Bai & Griffiths, section 4.2 and figure 2 (printed: SI .25, BGD .29 from 30 games).
#' @noRd
random_level <- function(n_rounds = 40, n_groups = 4, class_sizes = c(5, 5, 5, 5), balanced = FALSE, n_games = 30,
                         n_cells = 200, seed = 20260101) {
  check_arguments()
  check_class_sizes(class_sizes)
  if (balanced && n_rounds %% sum(class_sizes) != 0) {
    stop_with(
      "Can't simulate random games: where each job comes equally often, rounds must be a multiple of the jobs.",
      sprintf("Found: %s rounds, %s jobs.", n_rounds, sum(class_sizes))
    )
  }
  indices <- with_seed(seed, replicate(n_cells, {
    counts <- random_counts(n_rounds, n_groups, class_sizes, n_games, balanced)
    weighted_indices(measured_games(counts), equal_weights(n_games))[1, ]
  }))
  limits <- apply(indices, 1, stats::quantile, probs = c(.025, .975), na.rm = TRUE, names = FALSE)
  level <- rowMeans(indices, na.rm = TRUE)
  if (length(class_sizes) < 2) level[] <- limits[] <- NA_real_ # nothing can be stratified
  data.frame(
    index = index_names, level = replace(unname(level), is.nan(level), NA_real_),
    level_low = limits[1, ], level_high = limits[2, ], n_rounds = n_rounds, n_groups = n_groups,
    n_classes = length(class_sizes), n_games = n_games, n_cells = n_cells, row.names = NULL
  )
}

check_class_sizes <- function(class_sizes) {
  if (!is.numeric(class_sizes) || length(class_sizes) < 1 || anyNA(class_sizes) || any(class_sizes <= 0)) {
    stop_with("Can't simulate random games: `class_sizes` must be the number of jobs in each class, each above 0.")
  }
}

# By game, group and class, how often; chance alone decides.
random_counts <- function(n_rounds, n_groups, class_sizes, n_games, balanced) {
  n <- n_rounds * n_games
  n_classes <- length(class_sizes)
  class <- if (balanced) {
    rep(rep(seq_len(n_classes), class_sizes * n_rounds / sum(class_sizes)), each = n_games)
  } else {
    sample.int(n_classes, n, replace = TRUE, prob = class_sizes)
  }
  group <- sample.int(n_groups, n, replace = TRUE)
  game <- rep(seq_len(n_games), n_rounds)
  cell <- game + n_games * (group - 1 + n_groups * (class - 1))
  array(tabulate(cell, n_games * n_groups * n_classes), c(n_games, n_groups, n_classes))
}
