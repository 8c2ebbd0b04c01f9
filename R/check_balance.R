#' Was each level of each attribute shown as often as the design says?
#'
#' Chance alone makes counts differ; what is found is reported, and nothing is drawn again for it.
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per profile.
#' @param attributes names of the columns with the levels that were shown.
#' @param linked a list of pairs of attributes of which some combinations were never shown.
#' @param draws how a linked pair was drawn: `"in_turn"`, the first with equal chances, then the second among those that
#'   it allows; or `"cells"`, each allowed combination with the same chance.
#' @param once names of the columns that tell what was drawn apart: rows that agree in them (and in `by`) are one
#'   profile, however often it was shown. `NULL`: each row was drawn.
#' @return A data frame with one row per level (`kind` is `"level"`): `attribute`, `level`, `n`, `share`, `expected`
#'   (the share under the design: levels are drawn with equal chances), and of the attribute `chi_squared`, `df`,
#'   `p_value`, `detectable` (found in 80 % of such studies); and one per pair of attributes (`"pair"`): `attribute`
#'   (`"a x b"`), `level` (the cell that is farthest
#'   from what is expected), `n`, `share` and `expected` of that cell, `residual` (standardised: beyond 2 in one of
#'   twenty cells), `n_empty` (cells that were never shown), `chi_squared`, `df`, `p_value` of the cells that were;
#'   `status`, `messages`.
#' @noRd
check_balance <- function(data, attributes, by = NULL, linked = list(), draws = c("in_turn", "cells"), once = NULL) {
  linked <- checked_pairs(linked, attributes)
  draws <- one_of(draws, c("in_turn", "cells"), "draws")
  check_columns(data, c(once, by), to = "check")
  if (!is.null(once)) data <- data[!duplicated(data[c(by, once)]), , drop = FALSE]
  empty <- columns_of(
    "kind:text attribute:text level:text n:whole share expected residual n_empty:whole chi_squared df p_value",
    "detectable"
  )
  check_each_group(data, by, attributes, empty, function(rows) {
    factors <- lapply(stats::setNames(attributes, attributes), function(name) factor(as.character(rows[[name]])))
    alone <- lapply(attributes, function(name) {
      n <- tabulate(factors[[name]])
      expected <- unname(chances_of(name, factors, linked, draws))
      tested <- goodness_of_fit(n, expected)
      data.frame(
        kind = "level", attribute = name, level = levels(factors[[name]]), n = n, share = n / sum(n),
        expected = expected, residual = (n - sum(n) * expected) / sqrt(sum(n) * expected * (1 - expected)),
        chi_squared = tested$chi_squared, df = tested$df, p_value = tested$p,
        detectable = sqrt(noncentrality_of_squares(tested$df, .001) * expected * (1 - expected) / sum(n))
      )
    })
    pairs <- if (length(attributes) > 1) utils::combn(attributes, 2, simplify = FALSE)
    stacked(c(alone, lapply(pairs, pair_balance, factors, linked, draws)))
  })
}

# The chance of each cell of a pair under the design, a matrix; cells of a linked pair that were never shown have none.
chances_of_pair <- function(pair, factors, linked, draws) {
  own <- Filter(function(one) setequal(one, pair), linked)
  if (length(own) == 0) {
    return(outer(chances_of(pair[[1]], factors, linked, draws), chances_of(pair[[2]], factors, linked, draws)))
  }
  drawn <- own[[1]]
  allowed <- cells_of_pair(drawn, factors) > 0
  chances <- if (draws == "cells") allowed / sum(allowed) else allowed / rowSums(allowed) / nrow(allowed)
  chances <- matrix(chances, nrow(allowed), dimnames = unname(dimnames(allowed)))
  if (identical(drawn, pair)) chances else t(chances)
}

chances_of <- function(name, factors, linked, draws) {
  own <- Filter(function(pair) name %in% if (draws == "cells") pair else pair[[2]], linked)
  if (length(own) == 0) {
    n <- nlevels(factors[[name]])
    return(stats::setNames(rep(1 / n, n), levels(factors[[name]])))
  }
  colSums(chances_of_pair(c(setdiff(own[[1]], name), name), factors, linked, draws))
}

# How often each cell of a pair was shown, a matrix: what table() gives, in a fifth of its time.
cells_of_pair <- function(pair, factors) {
  first <- factors[[pair[[1]]]]
  second <- factors[[pair[[2]]]]
  cell <- as.integer(first) + nlevels(first) * (as.integer(second) - 1L)
  matrix(
    tabulate(cell, nlevels(first) * nlevels(second)), nlevels(first),
    dimnames = list(levels(first), levels(second))
  )
}

pair_balance <- function(pair, factors, linked, draws) {
  counts <- cells_of_pair(pair, factors)
  is_linked <- any(vapply(linked, setequal, NA, pair))
  expected <- if (is_linked) {
    chances_of_pair(pair, factors, linked, draws)
  } else {
    outer(rowSums(counts), colSums(counts)) / sum(counts)^2
  }
  residuals <- if (is_linked) {
    (counts - sum(counts) * expected) / sqrt(sum(counts) * expected * (1 - expected))
  } else {
    suppressWarnings(stats::chisq.test(counts, correct = FALSE))$stdres
  }
  residuals[expected == 0] <- 0
  worst <- which.max(abs(residuals))
  at <- arrayInd(worst, dim(counts))
  tested <- goodness_of_fit(as.vector(counts), as.vector(expected))
  df <- if (is_linked) tested$df else prod(dim(counts) - 1)
  frame_of(
    kind = "pair", attribute = paste(pair, collapse = " x "),
    level = paste(rownames(counts)[[at[[1]]]], colnames(counts)[[at[[2]]]], sep = ", "),
    n = as.integer(counts[[worst]]), share = counts[[worst]] / sum(counts), expected = expected[[worst]],
    residual = residuals[[worst]], n_empty = sum(counts == 0), chi_squared = tested$chi_squared, df = as.double(df),
    p_value = stats::pchisq(tested$chi_squared, df, lower.tail = FALSE)
  )
}

goodness_of_fit <- function(n, expected) {
  is_possible <- expected > 0
  wanted <- sum(n) * expected[is_possible]
  chi_squared <- sum((n[is_possible] - wanted)^2 / wanted)
  df <- as.double(sum(is_possible) - 1)
  list(chi_squared = chi_squared, df = df, p = stats::pchisq(chi_squared, df, lower.tail = FALSE))
}
