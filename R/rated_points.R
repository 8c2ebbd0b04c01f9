# A rating as the ordered factor that cumulative models take: its points in their order, those that nobody gave left
# out, which a message says.

most_points <- 30L

# `points`: all points of the scale as text, the lowest first, or NULL: those of a factor, or the numbers there are.
rated_points <- function(values, name, points = NULL) {
  known <- points_of(values, name, points)
  given <- known[known %in% as.character(values)]
  if (length(given) > most_points) {
    stop_with(
      sprintf("Can't take \"%s\" as a rating: it has %d different values.", name, length(given)),
      "A number that is no scale is fitted by lm (or lme4)."
    )
  }
  if (length(given) == 1) {
    stop_with(sprintf("The outcome \"%s\" is %s in all %d rows: there is nothing to explain.", name, given,
                      length(values)))
  }
  if (length(unused <- setdiff(known, given)) > 0) {
    message(sprintf("Points of \"%s\" that were never given are left out of its scale: %s.", name, toString(unused)))
  }
  factor(as.character(values), given, ordered = TRUE)
}

points_of <- function(values, name, points) {
  if (!is.null(points)) {
    points <- as.character(unlist(points))
    check_listed(values, points, name)
    return(points)
  }
  if (is.factor(values)) {
    return(levels(values))
  }
  if (!is.numeric(values) && !is.logical(values) || !all(is.finite(values))) {
    stop_with(
      sprintf("\"%s\" is text and needs the list of its points, the lowest first.", name),
      sprintf("Give it as levels = list(%s = c(\"disagree\", \"neither\", \"agree\")).", name)
    )
  }
  sorted <- sort(unique(as.numeric(values)))
  if (all(sorted == round(sorted)) && diff(range(sorted)) < most_points) sorted <- seq(sorted[[1]], max(sorted))
  as.character(sorted)
}

# Levels of a factor at which everybody gave the same point: thresholds run off there, and a maximum is nowhere.
warn_of_one_point <- function(rows, formula) {
  outcome <- all.vars(formula[[2]])
  for (name in all.vars(without_random_terms(formula)[[3]])) {
    if (!is.factor(rows[[name]])) next
    n_points <- tapply(as.integer(rows[[outcome]]), rows[[name]], function(points) length(unique(points)))
    for (level in names(which(n_points == 1))) {
      point <- rows[[outcome]][rows[[name]] == level][[1]]
      warning(
        sprintf("All ratings of %s \"%s\" are %s: its coefficient has no finite estimate, or a rough one. ",
                name, level, point),
        "A prior holds it: engine brms, family = \"cumulative\".", call. = FALSE
      )
    }
  }
}

fixed_text <- function(formula) all.vars(without_random_terms(formula)[[3]])
