#' Check an analysis by the name of a check
#'
#' The one door to all checks, from R and from Python; `analyze check` in the shell runs those that fit a study and
#' says what they mean. Most take `by` (names of the columns that define the groups), `outcome`, `contrast` (name of the
#' column with the conditions) and `levels` (the conditions, the reference first).
#'
#' @param name \describe{
#'     \item{`"check_residuals"`}{Are the residuals of a mixed model as it assumes? (`formula`)}
#'     \item{`"check_skew"`}{Do a few long answers make the effect? (`alpha`)}
#'     \item{`"check_equivalence"`}{Is a null a null? Two one-sided tests. (`bound`, in standard deviations; `alpha`)}
#'     \item{`"check_refusals"`}{What if refusals are not missing at random? (`refusal`, the name of a column)}
#'     \item{`"check_token_limits"`}{Do answers end where a limit is?}
#'     \item{`"check_repetitions"`}{Are repetitions answers of their own, or the same one again?}
#'     \item{`"check_option_order"`}{Can the condition be told apart from the order of the options? (`formula`,
#'       `first`)}
#'     \item{`"check_corrections"`}{Of the estimates of fits: which results are left after correcting for the number of
#'       tests? (`alpha`)}
#'     \item{`"check_influence"`}{Of the estimates of `"leave_one_out"`: does one prompt decide a result? (`alpha`)}
#'     \item{`"check_variance_shares"`}{Of the variances of a fit: how much is by prompt and by word?}
#'     \item{`"check_word_effects"`}{Of estimates: does taking words for a sample change the conclusion? (`with_words`,
#'       the estimates of the model that does; `alpha`)}
#'     \item{`"check_effects_by_word"`}{What is the effect at each word?}
#'     \item{`"check_same_words"`}{Do models have the bias at the same words? Effects at words correlated between
#'       models, plain and without their errors. (`by` without model and test; `alpha`)}
#'     \item{`"check_first_option"`}{Is the option that is shown first chosen more often? (`chosen`, `first`,
#'       `expected`, `n_options`, `cluster`)}
#'     \item{`"check_order_effect"`}{Is the effect of the condition the same with the order in the model? (`order`)}
#'     \item{`"check_missing_answers"`}{Which answers are missing, and are they more in one condition?}
#'     \item{`"check_missing_bounds"`}{Could the missing answers have made the difference?}
#'     \item{`"check_left_out"`}{Does one word, wording or repetition carry the difference? (`parts`)}
#'     \item{`"check_separation"`}{Are all answers of a condition alike?}
#'     \item{`"check_games_ended"`}{Were games cut short, and does it matter?}
#'     \item{`"check_game_influence"`}{Does one game decide a result? (`n_random`, `seed`)}
#'     \item{`"check_answer_lengths"`}{How long are answers, and do they grow or shrink along a game? (`length`,
#'       `place`)}
#'   }
#' @param data a data frame with one row per trial, or the estimates or variances of a fit.
#' @param arguments a named list of further arguments of that check.
#' @return A list of `rows`, the check's data frame (`NULL` where it could not be made; a warning says why), and
#'   `messages`, what R said: a data frame of `kind` (`"warning"`, `"message"`, `"error"`) and `text`.
#' @export
#' @examples
#' trials <- simulate_trials()
#' run_check("check_refusals", trials, list(by = c("model", "test")))$rows
run_check <- function(name, data, arguments = list()) {
  check_arguments()
  check <- checks()[[name]]
  if (is.null(check)) {
    known <- names(checks())
    stop_with(sprintf("There is no check %s.", quoted(name)), sprintf("Checks there are: %s.", toString(known)))
  }
  check_columns(as_columns(data), character(), to = "check")
  arguments <- Filter(Negate(is.null), as.list(arguments))
  check_named_arguments(check, arguments, name)
  result <- with_conditions(function() {
    do.call(check, c(list(as_columns(data)), arguments), quote = TRUE)
  })
  reasons <- result$conditions$text[result$conditions$kind == "error"]
  if (length(reasons) > 0) warning(sprintf("%s has no rows. %s", name, reasons[[1]]), call. = FALSE)
  list(rows = result$value, messages = result$conditions)
}

# Stops where `arguments` are none of a function's, or lack one that it needs besides `data`, its first.
check_named_arguments <- function(called, arguments, name, to = "check") {
  own <- formals(called)[-1]
  unknown <- setdiff(names(arguments), names(own))
  if (length(unknown) > 0) {
    stop_with(
      sprintf("Can't %s with %s: it takes no argument %s.", to, name, quoted(unknown)),
      sprintf("Arguments there are: %s.", toString(names(own)))
    )
  }
  is_needed <- vapply(own, function(default) is.name(default) && !nzchar(as.character(default)), NA)
  lacking <- setdiff(names(own)[is_needed], names(arguments))
  if (length(lacking) > 0) {
    stop_with(
      sprintf("Can't %s with %s: it needs %s.", to, name, toString(sprintf("`%s`", lacking))),
      sprintf("Give it by name: list(%s = ...).", lacking[[1]])
    )
  }
}

checks <- function() {
  names <- c(
    "residuals", "influence", "variance_shares", "word_effects", "corrections", "equivalence", "token_limits",
    "option_order", "refusals", "skew", "first_option", "order_effect", "missing_answers", "missing_bounds", "left_out",
    "separation", "repetitions", "games_ended", "game_influence", "answer_lengths", "effects_by_word", "same_words"
  )
  mget(paste0("check_", names), envir = environment(run_check), mode = "function")
}
