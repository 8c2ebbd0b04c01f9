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
    check_rounds_apart(data, cell, to)
  }
}

check_rounds_apart <- function(data, cell, to) {
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
