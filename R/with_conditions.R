#' Run a function and keep what it said
#'
#' R's warnings and messages never reach Python by themselves, and in a loop of many fits it is unknown whose
#' warning it was. Both languages therefore run R through this one wrapper.
#'
#' @param expr_fun a function without arguments.
#' @return A list of three:
#'   `value`, what the function returned (`NULL` if it failed);
#'   `conditions`, a data frame with one row per condition in the order they came: `kind` (`"warning"`, `"message"`
#'   or `"error"`, the last at most once) and `text`;
#'   `output`, what was printed, as one string with line ends (`""` if nothing).
#' @noRd
with_conditions <- function(expr_fun) {
  kinds <- character()
  texts <- character()
  keep <- function(kind, condition) {
    kinds <<- c(kinds, kind)
    texts <<- c(texts, trimws(conditionMessage(condition)))
  }
  value <- NULL
  output <- utils::capture.output(
    value <- tryCatch(
      withCallingHandlers(
        expr_fun(),
        warning = function(condition) {
          keep("warning", condition)
          invokeRestart("muffleWarning")
        },
        message = function(condition) {
          keep("message", condition)
          invokeRestart("muffleMessage")
        }
      ),
      error = function(condition) {
        keep("error", condition)
        NULL
      }
    )
  )
  list(
    value = value,
    conditions = data.frame(kind = kinds, text = texts, stringsAsFactors = FALSE),
    output = paste(output, collapse = "\n")
  )
}
