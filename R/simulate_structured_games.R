#' Simulate games whose structure is known
#'
#' The controlled experiments with which the paper shows what its indices measure: games in which groups keep to a
#' class of jobs of their own as closely as `p` says. No model was asked: `source` is `"simulated"`.
#' \describe{
#'   \item{`si`}{(B.1.2) in each game every group is given a class of jobs; groups may share one, and jobs of a class
#'     that no group was given are not drawn. In a round a job is drawn; with probability `p` the group of its class is
#'     chosen (one of them at random, where several share it), else any group.}
#'   \item{`bgd`}{(B.2) each group has a class of its own. Its hires come from that class with probability `p`, else
#'     from any; then a share `reassigned` of the hires goes to any group.}
#'   \item{`gasi`}{(B.3) each class has one group, which gets all its jobs: with probability `p` a game has the mapping
#'     that all games share, else a random one of its own.}
#' }
#' Where the paper is silent this is ours: in `bgd` each group is as likely as another in each round; the share
#' reassigned is .05; jobs are drawn with replacement, a class of more jobs more often (in `bgd` classes are alike).
#'
#' @param p how closely groups keep to their class, from 0 (not at all) to 1.
#' @param experiments which of the three, by the index that each is about.
#' @param n_games games for each value of `p`.
#' @param n_rounds rounds of a game.
#' @param n_groups number of groups; not more than classes, where each has a class of its own.
#' @param class_sizes number of jobs in each class.
#' @param reassigned share of hires that go to any group in `bgd`.
#' @param seed a whole number: the same seed gives the same games, and R's own stream of random numbers goes on as if
#'   nothing had been drawn.
#' @return A data frame with one row per round, in the columns that [game_indices()] takes: `source`, `experiment`,
#'   `p`, `game` (numbered again for each `p`), `round`, `class`, `job`, `choice`.
#' @source Wu, Liu, Bai & Griffiths, appendix B.1.2, B.2 and B.3.
#' @seealso [controlled_indices()], which measures them.
#' @export
#' @examples
#' games <- simulate_structured_games(p = c(0, 1), experiments = "si", n_games = 5)
#' game_indices(games, by = "p", n_classes = 4, n_draws = 0, n_random = 0)[c("p", "index", "estimate")]
simulate_structured_games <- function(p = seq(0, 1, .1), experiments = c("si", "bgd", "gasi"), n_games = 30,
                                      n_rounds = 40, n_groups = 4, class_sizes = c(5, 5, 5, 5), reassigned = .05,
                                      seed = 20260101) {
  check_arguments()
  is_share <- function(x) is.numeric(x) && length(x) > 0 && !anyNA(x) && all(x >= 0 & x <= 1)
  if (!is_share(p) || anyDuplicated(p) > 0) {
    stop_with("Can't simulate games: `p` must be numbers from 0 to 1, each once.")
  }
  if (!is_share(reassigned) || length(reassigned) != 1) {
    stop_with("Can't simulate games: `reassigned` must be a number from 0 to 1.")
  }
  known <- c("si", "bgd", "gasi")
  if (!is.character(experiments) || length(experiments) == 0 || !all(experiments %in% known)) {
    stop_with(sprintf("Can't simulate games: `experiments` must be some of %s.", quoted(known)))
  }
  if (any(experiments != "si") && is.numeric(n_groups) && all(n_groups > length(class_sizes))) {
    stop_with(
      "Can't simulate games: where each group has a class of its own, there can't be more groups than classes.",
      sprintf("Found: %s groups, %d classes.", n_groups, length(class_sizes))
    )
  }
  check_class_sizes(class_sizes)
  played <- list(si = shared_classes_game, bgd = tilted_game, gasi = mapped_game)
  cells <- expand.grid(game = seq_len(n_games), p = p, experiment = experiments, stringsAsFactors = FALSE)
  n <- nrow(cells)
  rows <- with_seed(seed, lapply(seq_len(n), function(k) {
    hires <- played[[cells$experiment[[k]]]](cells$p[[k]], n_rounds, n_groups, class_sizes, reassigned)
    jobs <- vapply(class_sizes[hires$class], sample.int, 1L, size = 1L)
    data.frame(round = seq_len(n_rounds), class = hires$class, job = jobs, choice = hires$group)
  }))
  games <- data.frame(source = "simulated", cells[rep(seq_len(n), each = n_rounds), c("experiment", "p", "game")])
  games <- cbind(games, do.call(rbind, rows))
  games$job <- sprintf("class %d, job %d", games$class, games$job)
  games$class <- sprintf("class %d", games$class)
  games$choice <- sprintf("group %d", games$choice)
  as_plain_rows(games)
}

# sample() takes a single number for "1 to this".
sampled_from <- function(values, n, prob = NULL) values[sample.int(length(values), n, replace = TRUE, prob = prob)]

# B.1.2: classes may be shared.
shared_classes_game <- function(p, n_rounds, n_groups, class_sizes, reassigned) {
  class_of_group <- sampled_from(seq_along(class_sizes), n_groups)
  mapped <- unique(class_of_group)
  class <- sampled_from(mapped, n_rounds, class_sizes[mapped])
  follows <- stats::runif(n_rounds) < p
  group <- vapply(seq_len(n_rounds), function(k) {
    sampled_from(if (follows[[k]]) which(class_of_group == class[[k]]) else seq_len(n_groups), 1)
  }, 1L)
  list(class = class, group = group)
}

# B.2: from alike to apart, with a little noise.
tilted_game <- function(p, n_rounds, n_groups, class_sizes, reassigned) {
  class_of_group <- sample.int(length(class_sizes), n_groups)
  group <- sample.int(n_groups, n_rounds, replace = TRUE)
  keeps <- stats::runif(n_rounds) < p
  class <- ifelse(keeps, class_of_group[group], sample.int(length(class_sizes), n_rounds, replace = TRUE))
  moved <- stats::runif(n_rounds) < reassigned
  group[moved] <- sample.int(n_groups, sum(moved), replace = TRUE)
  list(class = class, group = group)
}

# B.3: the same mapping in all games, or one of the game's own.
mapped_game <- function(p, n_rounds, n_groups, class_sizes, reassigned) {
  n_classes <- length(class_sizes)
  class_of_group <- if (stats::runif(1) < p) seq_len(n_groups) else sample.int(n_classes, n_groups)
  class <- sampled_from(class_of_group, n_rounds, class_sizes[class_of_group])
  list(class = class, group = match(class, class_of_group))
}
