#' Conditional logit of forced choices, one per group of rows
#'
#' `survival::clogit()` on one row per profile: which of the profiles that were shown together was chosen. What is the
#' same for all profiles of a set (the person, the template) has no estimate. A mixed model of such choices is singular
#' by construction, as everybody chooses one of each set.
#'
#' A set of one row says nothing, and neither does one in which nothing was chosen; survival leaves both out without a
#' word. Here they are counted in a message. A set with more than one choice is an error: then `sets` lacks a column.
#'
#' @inheritParams fit_logistic
#' @param formula the formula as text, such as `"chosen ~ group + job"`; the outcome is 1 or 0.
#' @param sets names of the columns that together tell the sets apart; if not given, those of `respondent`, `persona`,
#'   `template`, `repetition`, `task` that there are.
#' @return The same list of data frames as [fit_lme4()]. `estimates` has one row per coefficient, in log odds of being
#'   chosen, with Wald's z; `n_groups` of `fits` is the number of sets that were used. `tables` holds `tests`
#'   (likelihood ratio tests, as of [fit_logistic()]) and, with `cluster`, `clustered` (`method` `"robust"`: as
#'   survival's own, without a correction for few clusters).
#' @source McFadden (1974); Therneau, R package survival.
#' @noRd
fit_clogit <- function(data, formula, by = NULL, levels = NULL, cluster = NULL, sets = NULL, save_to = NULL) {
  need_package("survival", "fit conditional logits")
  check_columns(data, sets)
  if (is.null(sets)) sets <- intersect(setdiff(usual_sets, by), names(data))
  if (length(sets) == 0) {
    stop_with(
      "Can't fit a conditional logit: nothing says which profiles were shown together.",
      "Name the columns that tell the sets apart, as in sets = c(\"respondent\", \"task\")."
    )
  }
  fit_fixed_effects(data, formula, by, levels, cluster, save_to, conditional_logit(as.character(unlist(sets))))
}

usual_sets <- c("respondent", "persona", "template", "repetition", "task")

# The column of the sets in a model's rows; no column of data can be called so in a formula.
set_column <- ".set"

conditional_logit <- function(sets) {
  list(
    name = "a conditional logit", example = "chosen ~ gender + job", mixed = "brms", packages = "survival",
    columns = sets,
    prepared = function(rows, formula) {
      outcome <- all.vars(formula[[2]])
      for (name in outcome) rows[[name]] <- zeros_and_ones(rows[[name]], name)
      rows[[set_column]] <- group_codes(rows, sets)
      usable <- usable_sets(rows, outcome, sets)
      rows[rows[[set_column]] %in% usable, , drop = FALSE]
    },
    # What survival::clogit() calls, which looks for coxph() among what is attached. With one choice in a set the
    # methods of breslow, efron and exact are the same, and only the first two know residuals by row.
    model = function(formula, rows) {
      formula[[2]] <- call("Surv", quote(.time), formula[[2]])
      formula[[3]] <- call("+", formula[[3]], call("strata", as.name(set_column)))
      rows$.time <- rep(1, nrow(rows))
      environment(formula) <- list2env(
        list(rows = rows, Surv = survival::Surv, strata = survival::strata),
        parent = environment(formula)
      )
      survival::coxph(formula, data = rows, method = "breslow", x = TRUE)
    },
    effects = function(model) {
      tested_rows(names(stats::coef(model)), stats::coef(model), sqrt(diag(stats::vcov(model))))
    },
    fit_of = function(model) list(n_groups = model$nevent),
    tests = function(model) {
      formula <- stats::formula(model)
      rows <- rows_of_model(model)
      numbers_of <- function(fit) c(-2 * fit$loglik[[length(fit$loglik)]], length(stats::coef(fit)))
      terms <- setdiff(stats::drop.scope(stats::terms(model)), sprintf("strata(%s)", set_column))
      likelihood_ratios(model, numbers_of(model), -2 * model$loglik[[1]], terms, function(smaller, term) {
        environment(smaller) <- environment(formula)
        numbers_of(survival::coxph(smaller, data = rows, method = "breslow"))
      })
    },
    changes = function(model) as.matrix(stats::residuals(model, type = "dfbeta")),
    small_sample = function(model, n_clusters) (n_clusters - 1) / n_clusters, clustered_as = "robust",
    optimiser = "survival::coxph by set, Wald z"
  )
}

# The sets of more than one row with one choice; what else there is, in a message.
usable_sets <- function(rows, outcome, sets) {
  n <- tabulate(rows[[set_column]])
  chosen <- as.vector(rowsum(rows[[outcome]], rows[[set_column]], reorder = TRUE))
  if (any(chosen > 1)) {
    stop_with(
      sprintf("Can't fit a conditional logit: %s more than one choice.", sets_have(sum(chosen > 1))),
      sprintf("Do %s tell all sets apart? Name their columns, as in sets = c(\"respondent\", \"task\").", quoted(sets))
    )
  }
  if (any(n == 1)) message(sprintf("%s one row, which says nothing: left out.", sets_have(sum(n == 1))))
  empty <- n > 1 & chosen == 0
  if (any(empty)) message(sprintf("In %s nothing was chosen: left out.", counted(sum(empty), "set")))
  usable <- which(n > 1 & chosen == 1)
  if (length(usable) == 0) stop_with("Can't fit a conditional logit: no set of two rows or more has a choice.")
  usable
}

sets_have <- function(n) paste(counted(n, "set"), if (n == 1) "has" else "have")
