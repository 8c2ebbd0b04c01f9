#' What a fit should find in simulated participants
#'
#' The interference of each model and test that follows from known parameters, for a median word: what the
#' `"population"` rows of an analysis estimate.
#'
#' @param parameters a data frame such as [forced_choice_parameters()]: `model`, `test`, `condition`, `p_consistent`.
#' @return A data frame with two rows per model and test: `model`, `test`, `kind` (`"population"`), `scale`
#'   (`"delta_p"`: P(consistent | congruent) − P(consistent | incongruent), in probability; `"s"`: the same contrast in
#'   log odds), `truth`.
#' @source Cohen & Kincaid (2026), equation 11 (ΔP) and section 2.5 (S).
#' @export
#' @examples
#' true_contrasts(forced_choice_parameters())
true_contrasts <- function(parameters) {
  check_columns(parameters, c("model", "test", "condition", "p_consistent"), to = "say what a fit should find")
  keys <- c("model", "test")
  both <- merge(
    parameters[parameters$condition == "congruent", c(keys, "p_consistent")],
    parameters[parameters$condition == "incongruent", c(keys, "p_consistent")],
    by = keys, suffixes = c("_congruent", "_incongruent")
  )
  congruent <- both$p_consistent_congruent
  incongruent <- both$p_consistent_incongruent
  contrast <- function(scale, truth) data.frame(both[keys], kind = "population", scale = scale, truth = truth)
  truths <- rbind(
    contrast("delta_p", congruent - incongruent),
    contrast("s", stats::qlogis(congruent) - stats::qlogis(incongruent))
  )
  structure(truths[order(truths$model, truths$test, method = "radix"), ], row.names = seq_len(nrow(truths)))
}
