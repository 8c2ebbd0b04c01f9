# The part of alike() that is of personas: does the model as somebody answer as the people who are?

empty_personas <- function() {
  columns_of(
    "n_groups:whole n_cells:whole correlation conf_low conf_high slope slope_low slope_high rmse_persona rmse_plain"
  )
}

personas_of <- function(rows, alpha, n_draws, seed) {
  own <- rows[!is.na(rows$group), , drop = FALSE]
  groups <- intersect(own$group[own$is_people], own$group[!own$is_people])
  if (length(groups) < 2) stop_with("Personas are compared over at least two groups that people belong to as well.")
  own <- own[own$group %in% groups, , drop = FALSE]
  items <- intersect(own$item[own$is_people], own$item[!own$is_people])
  plain <- rows[!rows$is_people & is.na(rows$group) & rows$item %in% items, , drop = FALSE]
  side <- function(part, by_group) {
    names <- if (by_group) groups else "all"
    lapply(stats::setNames(nm = names), function(name) {
      mine <- if (by_group) part[part$group == name, , drop = FALSE] else part
      unname(tapply(mine$value, list(factor(mine$unit, unique(mine$unit)), factor(mine$item, items)), mean))
    })
  }
  model <- side(own[!own$is_people, , drop = FALSE], TRUE)
  people <- side(own[own$is_people, , drop = FALSE], TRUE)
  without <- if (nrow(plain) > 0) side(plain, FALSE)
  if (min(vapply(c(model, people), nrow, 1L)) < 2) {
    stop_with("Each group needs two people, and two answers of the model as its persona, for errors.")
  }
  value <- persona_numbers(model, people, without)
  if (all(vapply(model, is_one_answer, NA))) {
    stop_with("As each persona the model always gave the same answers, which count as one: there are no errors.")
  }
  drawn_again <- function(values) values[sample.int(nrow(values), replace = TRUE), , drop = FALSE]
  again <- function(sides) lapply(sides, drawn_again)
  # means of samples of samples have both errors
  drawn_from <- list(model = persona_means(model)$squared_error, people = persona_means(people)$squared_error)
  samples <- with_seed(seed, vapply(seq_len(n_draws), function(k) {
    persona_numbers(again(model), again(people), NULL, drawn_from)[c("correlation", "slope")]
  }, double(2)))
  limits <- apply(samples, 1, stats::quantile, c(alpha / 2, 1 - alpha / 2), na.rm = TRUE)
  if (is.na(value[["correlation"]])) message("Groups or personas differ no more than error explains: no correlation.")
  if (is.null(without)) message("The model was not asked without a persona: there is nothing to compare it with.")
  frame_of(
    n_groups = length(groups), n_cells = length(groups) * length(items), correlation = value[["correlation"]],
    conf_low = limits[[1, 1]], conf_high = limits[[2, 1]], slope = value[["slope"]], slope_low = limits[[1, 2]],
    slope_high = limits[[2, 2]], rmse_persona = value[["persona"]], rmse_plain = value[["plain"]]
  )
}

# Means of groups at items, less that of the item, so that the order of items is no agreement about groups; products are
# of means whose own errors are taken out of their squares.
# `drawn_from`: the squared errors of what the units of a bootstrap sample were drawn from, if they are one.
persona_numbers <- function(model, people, without, drawn_from = list(model = 0, people = 0)) {
  of_model <- persona_means(model)
  of_people <- persona_means(people)
  x <- of_model$mean
  y <- of_people$mean
  x_error <- of_model$squared_error + drawn_from$model
  y_error <- of_people$squared_error + drawn_from$people
  k <- ncol(x)
  centred <- function(values) values - rowMeans(values)
  shrink <- (k - 1) / k # a deviation from the mean of k has this share of the error
  covariance <- mean(centred(x) * centred(y), na.rm = TRUE)
  variance <- function(values, error) mean(centred(values)^2, na.rm = TRUE) - shrink * mean(error, na.rm = TRUE)
  of_model <- variance(x, x_error)
  of_people <- variance(y, y_error)
  is_there <- isTRUE(of_model > 0) && isTRUE(of_people > 0)
  distance <- function(values, error) sqrt(max(0, mean((values - y)^2 - error - y_error, na.rm = TRUE)))
  plain <- if (!is.null(without)) column_means(without[[1]])
  c(
    correlation = if (is_there) max(-1, min(1, covariance / sqrt(of_model * of_people))) else NA_real_,
    slope = if (isTRUE(of_model > 0)) covariance / of_model else NA_real_, persona = distance(x, x_error),
    plain = if (is.null(plain)) NA_real_ else distance(plain$mean, plain$squared_error)
  )
}

# Means and their squared errors, items x groups.
persona_means <- function(sides) {
  found <- lapply(unname(sides), column_means)
  table_of <- function(what) do.call(cbind, lapply(found, `[[`, what))
  list(mean = table_of("mean"), squared_error = table_of("squared_error"))
}
