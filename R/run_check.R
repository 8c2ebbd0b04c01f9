# Runs a check by the name of its function: the one door for callers that hold checks as data, as the Python bridge.
# Returns list(rows, messages): the check's data frame, and what R said, with `kind` and `text`; an error is one, too.
run_check <- function(name, data, arguments = list()) {
  check <- checks()[[name]]
  if (is.null(check)) {
    known <- names(checks())
    stop_with(sprintf("There is no check %s.", quoted(name)), sprintf("Checks there are: %s.", toString(known)))
  }
  heard <- with_conditions(function() {
    do.call(check, c(list(as_columns(data)), Filter(Negate(is.null), as.list(arguments))), quote = TRUE)
  })
  list(rows = heard$value, messages = heard$conditions)
}

checks <- function() {
  list(
    check_residuals = check_residuals, check_influence = check_influence,
    check_variance_shares = check_variance_shares, check_word_effects = check_word_effects,
    check_corrections = check_corrections, check_equivalence = check_equivalence,
    check_token_limits = check_token_limits, check_option_order = check_option_order,
    check_refusals = check_refusals, check_skew = check_skew,
    check_first_option = check_first_option, check_order_effect = check_order_effect,
    check_missing_answers = check_missing_answers, check_missing_bounds = check_missing_bounds,
    check_left_out = check_left_out, check_separation = check_separation,
    check_games_ended = check_games_ended, check_game_influence = check_game_influence,
    check_answer_lengths = check_answer_lengths
  )
}
