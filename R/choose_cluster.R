# Over which clusters the errors of an attribute are: decided here for every estimand, from what the study declares to
# vary. `declared`: list(properties, cells, prompt, cluster), each of which may be missing:
#   properties  by attribute, the column whose levels have it (gender = "name"): several jobs of one name are not
#               independent answers about its gender;
#   cells       the columns that were crossed with each other, whose combinations are what was shown;
#   prompt      the columns that tell prompts apart: the same prompt asked again tells about this prompt only;
#   cluster     of regressions: the column that clusters what is no property, as estimands have it in `cluster`.

fewest_clusters <- 40L

# list(codes: one or two vectors of whole numbers, columns, reason: one clause, is_property) for one attribute.
choose_cluster <- function(name, values, rows, cluster, declared) {
  parent <- unlist(declared$properties[[name]])
  if (length(parent) == 1) {
    chosen <- cluster_of_columns(rows, parent, sprintf("%s is a property of %s", name, parent))
    if (!is_alone(values, chosen$codes)) {
      chosen$is_property <- TRUE
      return(chosen)
    }
    warn_of_one_parent(name, parent)
  }
  if (is.null(cluster)) {
    return(independent_rows(rows, "no cluster is named"))
  }
  chosen <- cluster_of_columns(rows, cluster, reason_for(cluster))
  if (!is_alone(values, chosen$codes)) {
    return(chosen)
  }
  codes <- prompt_codes(rows, declared)
  has_prompts <- !is.null(codes) && !is_alone(values, list(codes))
  warn_of_one_cluster(name, cluster, has_prompts)
  if (has_prompts) {
    return(list(codes = list(codes), columns = "prompt", reason = of_prompts, is_property = FALSE))
  }
  independent_rows(rows, "a level is in one cluster")
}

of_prompts <- "a prompt asked again tells of itself only"

warn_of_one_cluster <- function(name, cluster, has_prompts) {
  warning(sprintf(
    paste(
      "All rows of a level of \"%s\" are in one cluster (\"%s\"), which says nothing of others: standard errors take",
      "%s as independent, and are of these levels alone."
    ),
    name, paste(cluster, collapse = " and "), if (has_prompts) "prompts" else "rows"
  ), call. = FALSE)
}

warn_of_one_parent <- function(name, parent) {
  warning(sprintf(
    "A level of \"%s\" belongs to one \"%s\" only: errors say nothing of others of it.", name, parent
  ), call. = FALSE)
}

# Of a regression that names no cluster: what its predictors are properties of, if of one thing, else what the study
# clusters by, else the prompt. NULL where the study declares nothing, or a level is in one prompt; else list(codes by
# name, reason).
declared_clusters <- function(rows, formula, declared) {
  terms <- stats::delete.response(stats::terms(formula))
  x <- stats::model.matrix(terms, rows)
  labels <- c("(Intercept)", attr(terms, "term.labels"))[attr(x, "assign") + 1]
  alone_in <- function(codes) setdiff(labels[decided_by_one(x, codes)], "(Intercept)")
  parent <- declared_parent(declared, formula)
  if (!is.null(parent)) {
    codes <- group_codes(rows, parent)
    named <- intersect(all.vars(formula[[3]]), names(declared$properties))
    if (length(alone <- alone_in(codes)) > 0) {
      warn_of_one_parent(alone[[length(alone)]], parent)
    } else if (max(codes) >= least_to_generalise) {
      are <- if (length(named) > 1) "are properties" else "is a property"
      reason <- sprintf("%s %s of %s", all_in_words(named), are, parent)
      return(list(codes = stats::setNames(list(codes), parent), reason = reason))
    }
  }
  prompts <- prompt_codes(rows, declared)
  has_prompts <- !is.null(prompts) && max(prompts) >= least_to_generalise && length(alone_in(prompts)) == 0
  cluster <- declared$cluster
  codes <- if (length(cluster) > 0) group_codes(rows, cluster) else prompts
  if (!is.null(codes) && length(alone <- alone_in(codes)) > 0) {
    warn_of_one_cluster(alone[[length(alone)]], if (length(cluster) > 0) cluster else "prompt", has_prompts)
  } else if (length(cluster) > 0 && max(codes) >= least_to_generalise) {
    return(list(codes = stats::setNames(list(codes), cluster), reason = reason_for(cluster)))
  }
  if (has_prompts) list(codes = list(prompt = prompts), reason = of_prompts)
}

# NULL if the study declares no prompts. Profiles that are shown together, told apart by their position, share one.
prompt_codes <- function(rows, declared) {
  if (length(declared$prompt) > 0) group_codes(rows, setdiff(declared$prompt, "position"))
}

declared_parent <- function(declared, formula) {
  named <- intersect(all.vars(formula[[3]]), names(declared$properties))
  parent <- unique(unlist(declared$properties[named], use.names = FALSE))
  if (length(parent) == 1 && !parent %in% all.vars(formula[[3]])) parent
}

# The columns of `declared` that such a fit needs.
clusters_to_declare <- function(declared, formula) {
  c(declared_parent(declared, formula), declared$cluster, declared$prompt)
}

# What a table of a factorial study's trials (open_trials()) tells of what varied, for a caller who names neither
# clusters nor a declaration: list(cluster, declared), as the study itself would declare it. A factor is a column of
# which each item has one value, a property one of which each level of a factor has one value. Other tables are left as
# they are.
declare_trials <- function(data, cluster, declared) {
  told <- list(cluster = cluster, declared = checked_declaration(declared))
  of_trials <- c("item", "template", "respondent", "persona", "participant", "n_profiles", "trial_id")
  if (!is.null(cluster) || length(told$declared) > 0 || !all(of_trials %in% names(data)) || nrow(data) == 0) {
    return(told)
  }
  n_of <- function(columns) max(group_codes(data, columns))
  is_text <- vapply(data, function(column) is.character(column) || is.factor(column), NA)
  texts <- setdiff(names(data)[is_text], c(of_trials, "condition", "test", "question"))
  texts <- texts[vapply(texts, function(name) n_of(name) > 1 && n_of(c("item", name)) == n_of("item"), NA)]
  n <- vapply(texts, n_of, 1L)
  parents <- lapply(stats::setNames(texts, texts), function(name) {
    finer <- texts[n > n[[name]]]
    finer <- finer[vapply(finer, function(other) n_of(c(other, name)) == n[[other]], NA)]
    finer[order(n[finer])][seq_len(min(1, length(finer)))]
  })
  factors <- texts[lengths(parents) == 0]
  is_crossed <- length(factors) > 0 && prod(n[factors]) == n_of("item") && all(data$n_profiles %in% 1)
  of_prompt <- Filter(function(name) n_of(name) > 1, c("persona", "template"))
  of_people <- !all(is.na(data$participant))
  told$cluster <- if (of_people) "participant" else if (n_of("persona") >= 10) "respondent" else "item"
  told$declared <- checked_declaration(if (of_people) told["cluster"] else list(
    properties = Filter(length, parents), cells = if (is_crossed) c(factors, of_prompt),
    prompt = c("item", "template", "respondent", if (!all(data$n_profiles %in% 1)) "position"), cluster = told$cluster
  ))
  told
}

reason_for <- function(cluster) {
  if (length(cluster) == 2) {
    return("in two ways, as specified")
  }
  switch(cluster,
    participant = , person = "one person's answers depend on each other",
    respondent = , persona = "one persona's answers depend on each other",
    item = "as it was shown",
    "as specified"
  )
}

cluster_of_columns <- function(rows, columns, reason) {
  codes <- lapply(columns, function(column) group_codes(rows, strsplit(column, ":", fixed = TRUE)[[1]]))
  if (length(columns) > 2) codes <- list(group_codes(rows, columns))
  n <- vapply(codes, max, 1L)
  if (any(n < 2)) stop_with(sprintf("Can't compute standard errors over %s: it has one value.", quoted(columns)))
  list(codes = codes, columns = columns, reason = reason, is_property = FALSE)
}

independent_rows <- function(rows, reason) {
  list(codes = list(seq_len(nrow(rows))), columns = "row", reason = reason, is_property = FALSE)
}

# Whether a level has all of its rows in one cluster (of several rows), which has no error then.
is_alone <- function(values, codes) {
  any(vapply(codes, function(code) max(code) < length(code) && min(clusters_at_levels(values, code)) < 2, NA))
}

# How many clusters each level was seen in.
clusters_at_levels <- function(values, codes) {
  pairs <- unique((as.double(values) - 1) * max(codes) + codes)
  tabulate((pairs - 1) %/% max(codes) + 1, nlevels(values))
}

# Whether each cluster has one level only.
is_nested <- function(values, codes) constant_columns(cbind(as.integer(values)), codes)

# "gender by name (gender is a property of name), job and template by item (as it was shown)"
clusters_in_words <- function(choices) {
  if (length(choices) == 0) {
    return("rows independent")
  }
  texts <- vapply(choices, function(one) {
    sprintf("%s (%s)", if (identical(one$columns, "row")) "rows, independent" else toString(one$columns), one$reason)
  }, "")
  of <- vapply(unique(texts), function(text) all_in_words(names(choices)[texts == text]), "")
  if (length(of) == 1) unique(texts) else paste(sprintf("%s by %s", of, unique(texts)), collapse = "; ")
}

# A model that answers a prompt alike each time it is asked gives copies, not answers. It counts as one if the
# repetitions of nearly all prompts are the same, and that of clearly more than its answers' distribution would give:
# then each prompt counts once. Equal answers of a model that varies elsewhere are separate answers.
nearly_all <- .95

once_per_prompt <- function(rows, outcome, prompt) {
  if (length(prompt) == 0 || nrow(rows) == 0 || !all(prompt %in% names(rows))) {
    return(rows)
  }
  codes <- group_codes(rows, prompt)
  n <- tabulate(codes)
  if (max(n) < 2) {
    return(rows)
  }
  answers <- match(rows[[outcome]], unique(rows[[outcome]]))
  is_first <- !duplicated(codes)
  differs <- answers != answers[is_first][codes]
  is_same <- tabulate(codes[differs], length(n)) == 0
  repeated <- n > 1
  share <- mean(is_same[repeated])
  shares <- tabulate(answers) / length(answers)
  by_chance <- mean(vapply(n[repeated], function(times) sum(shares^times), 1))
  p_value <- stats::pbinom(sum(is_same[repeated]) - 1, sum(repeated), by_chance, lower.tail = FALSE)
  if (share < nearly_all || p_value > .001) {
    return(rows)
  }
  message(sprintf(
    "Repetitions of a prompt are the same answer in %s of %s asked again: each prompt counts once (%d of %d rows).",
    sprintf("%d", sum(is_same[repeated])), counted(sum(repeated), "prompt"), sum(is_first), nrow(rows)
  ))
  chosen_rows(rows, which(is_first))
}
