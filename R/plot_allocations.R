#' Rank-ordered allocation matrices, by model and answer format
#'
#' Which share of each group's rounds went to which class of jobs, its mean over games, after each game's matrix was
#' put in order by [rank_ordered()]: a dark diagonal is stratification, a plain square is none. Random choices have a
#' paler diagonal, too, because the order looks for one; the last panel shows it.
#'
#' @param data a data frame with one row per model, game, class and group, such as the view `allocation_matrices` of
#'   the database, over games that were played to their end: `model`, `variant`, `game`, `class`, `group` (or `choice`),
#'   `n` (rounds). Used if present: `answer_format`, `source`, `title`, `model_label`, `model_no`, `variant_label`,
#'   `variant_no`.
#' @inherit plot_effect_sizes params return
#' @param seed of the random games in the last panel, a whole number.
#' @source Wu, Liu, Bai & Griffiths, Large Language Models Develop Novel Social Biases Through Adaptive Exploration,
#'   appendix D, which shows single games.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' games <- simulate_structured_games(p = c(.2, .9), experiments = "bgd", n_games = 10)
#' games <- transform(games, model = paste("p =", p), variant = "structured", n = 1)
#' counts <- stats::aggregate(n ~ source + model + variant + game + class + choice, games, sum)
#' plot_allocations(counts)
plot_allocations <- function(data, file = NULL, seed = 20260101, width = NULL, height = NULL, ...) {
  counts <- begin_figure("allocations", data, file, width, height, ...)
  shares <- allocations_to_draw(counts, seed)
  n_panels <- nlevels(shares$panel_shown)
  n_columns <- columns_within(width, min(n_panels, if (n_panels > 12) 6 else 5), each_in = 1.3, margin_in = .6)
  n_lines <- max(lengths(strsplit(levels(shares$panel_shown), "\n", fixed = TRUE)))
  width_in <- max(7, 1 + 1.65 * n_columns)
  diagonal <- shares[shares$row == shares$column, ]
  means <- tapply(diagonal$share, diagonal$panel_shown, mean, na.rm = TRUE)
  # squares of few panels, or of matrices with few classes, would leave a figure narrower than its words
  is_stretched <- n_columns < 4 || max(shares$column) < max(shares$row)
  title_position <- if (is_narrow(given_or(width, width_in))) "top" else "left"
  plot <- ggplot2::ggplot(shares) +
    heat_map(shares) +
    panels_by("panel_shown", n_columns) +
    ggplot2::guides(fill = ggplot2::guide_colourbar(direction = "horizontal", title.position = title_position)) +
    (if (is_stretched) ggplot2::coord_cartesian() else ggplot2::coord_fixed()) +
    figure_theme() +
    ggplot2::theme(
      panel.grid.major = ggplot2::element_blank(), strip.text = ggplot2::element_text(size = 9, hjust = 0),
      legend.title = ggplot2::element_text(size = 9, vjust = .9, margin = ggplot2::margin(r = 8)),
      legend.key.height = ggplot2::unit(8, "pt"), legend.key.width = ggplot2::unit(26, "pt")
    )
  finish_figure(
    plot, alt_text(
      sprintf("Rank-ordered allocation matrices, %s", counted(length(means), "panel")),
      "Mean share on the diagonal", sprintf("%s %.2f", gsub(",?\n", ", ", names(means)), means)
    ),
    2.6 + (1.35 + .17 * n_lines) * ceiling(n_panels / n_columns), width_in, notes = paste(
      sprintf("%s a panel.", counted_range(shares$n_games[shares$panel_shown != chance_panel()], "game")),
      "In each game the largest cell comes first on the diagonal, then the largest that is left. Random choices as",
      "often in each class as here have a diagonal as well: the last panel, of 400 simulated games."
    ),
    fill = "Share of the group's rounds"
  )
}

# One row a panel and place: the mean `share` over the games in which the group was chosen, and `n_games`.
allocations_to_draw <- function(counts, seed) {
  if (is.data.frame(counts) && !"group" %in% names(counts)) counts$group <- counts$choice
  check_columns(counts, c("model", "variant", "game", "class", "group", "n"), to = "draw allocations")
  counts <- labelled_games(counts[!is.na(counts$n), , drop = FALSE])
  if (nrow(counts) == 0 || sum(counts$n) == 0) {
    stop_with("Can't draw allocations: no game has a round with a choice.")
  }
  key <- c("model_shown", "variant_shown", "format_shown")
  check_drawn_once("allocations", counts)
  means <- mean_shares(rank_ordered(counts, by = key), key)
  is_several <- vapply(means[key], function(labels) nlevels(droplevels(labels)) > 1, NA)
  panels <- panel_names(means, key[is_several | key == "model_shown"])
  chance <- mean_shares(random_matrices(counts, key, seed), character())
  columns <- c("row", "column", "share", "n_games")
  shares <- rbind(means[columns], chance[columns])
  shares$panel_shown <- factor(
    c(as.character(panels), rep(chance_panel(), nrow(chance))), c(levels(panels), chance_panel())
  )
  shares
}

chance_panel <- function() "Chance alone,\nsimulated"

mean_shares <- function(ranked, key) {
  places <- c(key, "group_rank", "class_rank")
  rows <- split(seq_len(nrow(ranked)), group_codes(ranked, places))
  means <- ranked[vapply(rows, `[[`, 1L, 1), places]
  names(means) <- c(key, "row", "column")
  means$share <- vapply(rows, function(of_place) mean(ranked$share[of_place], na.rm = TRUE), 1)
  means$n_games <- lengths(rows)
  means
}

panel_names <- function(rows, key) {
  in_order <- unique(rows[do.call(order, unname(rows[key])), key, drop = FALSE])
  name <- function(cells) {
    do.call(paste, c(lapply(cells, function(labels) wrapped(as.character(labels), 22)), sep = "\n"))
  }
  factor(name(rows[key]), unique(name(in_order)))
}

# Games of random choices, as long as those drawn and over as many groups and classes.
random_matrices <- function(counts, key, seed, n_games = 400) {
  rounds <- tapply(counts$n, do.call(paste, c(counts[c(key, "game")], sep = "\r")), sum)
  n_rounds <- round(stats::median(rounds))
  of_class <- tapply(counts$n, counts$class, sum)
  n_groups <- length(unique(counts$group))
  drawn <- with_seed(seed, random_counts(n_rounds, n_groups, as.vector(of_class), n_games, balanced = FALSE))
  cells <- expand.grid(game = seq_len(n_games), choice = seq_len(n_groups), class = seq_along(of_class))
  rank_ordered(cbind(cells, n = as.vector(drawn)))
}
