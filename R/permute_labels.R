#' Swap the conditions of items at random
#'
#' One random relabelling of the data for a permutation test: within each model and test, the two labels of an
#' item are swapped with probability 1/2, for each item on its own.
#'
#' The unit that is exchanged is an item within a model and test, with all of its rows: several answers to one item
#' (repetitions) keep together, so that the test holds if items differ in their effect of condition, not only if none
#' has any. Items answered in one condition only (the other answer was not valid, say) take part: their label is drawn,
#' too. What is swapped depends on `seed`, `number` and the names of the items, not on the order of rows or the
#' session's random numbers, and is the same on every machine.
#'
#' @param data a data frame with one row per trial.
#' @param number which permutation: 0 (the data as they are), 1, 2, …
#' @param seed one whole number for the whole test. Each permutation has a seed of its own, made of it and `number`;
#'   up to 2^31 - 2 permutations no two are alike.
#' @param contrast name of the column whose two labels are swapped.
#' @param unit name of the column with the items.
#' @param within names of the columns within which an item's labels are exchanged.
#' @return `data` with some labels of `contrast` swapped.
#' @source Cohen & Kincaid (2026), section 3.2: labels permuted, the model refitted.
#' @noRd
permute_labels <- function(data, number, seed = 1, contrast = "condition", unit = "item",
                           within = c("model", "test")) {
  check_columns(data, c(contrast, unit, within), to = "permute")
  if (nrow(data) == 0) {
    stop_with("Can't permute: there are no rows, or none that has all that the formula needs, such as a valid answer.")
  }
  labels <- sort(unique(as.character(data[[contrast]])), method = "radix")
  if (length(labels) != 2 || anyNA(data[[contrast]])) {
    stop_with(
      sprintf("Can't permute: \"%s\" must hold exactly two labels in all rows.", contrast),
      sprintf("Found: %s%s.", quoted(labels), if (anyNA(data[[contrast]])) " and missing ones" else "")
    )
  }
  seed <- permutation_seed(seed, number)
  if (number == 0) {
    return(data)
  }
  units <- unit_keys(data, c(within, unit))
  keys <- sort(unique(units), method = "radix")
  is_swapped <- keys[with_seed(seed, stats::runif(length(keys)) < .5)]
  swapped <- units %in% is_swapped
  other <- labels[3 - match(as.character(data[[contrast]][swapped]), labels)]
  data[[contrast]][swapped] <- other
  data
}

# The seed of one permutation: whole numbers below the prime 2^31 - 1, and exact in doubles. For one `seed` all
# `number`s give different ones; the rounds keep neighbours of either far apart.
permutation_seed <- function(seed, number) {
  prime <- 2147483647
  if (!is_whole(seed, 1 - prime) || !is_whole(number, 0) || seed >= prime || number >= prime - 1) {
    stop_with("Can't permute: `seed` and `number` must be whole numbers, `number` 0 or more, both below 2^31 - 1.")
  }
  mixed <- seed %% prime
  for (round in 1:3) mixed <- (48271 * mixed + 11) %% prime
  as.integer((48271 * ((mixed + number) %% (prime - 1) + 1)) %% prime)
}

# Each row's item, within its model and test, as one string. The separator is in no name.
unit_keys <- function(data, columns) do.call(paste, c(lapply(data[columns], as.character), sep = "\037"))
