# Claims about regressions that a factorial study's file names itself, one function each; bench/truth.R runs them. In
# none of the data sets does anything differ but by chance: names (and wordings, where they cluster, too) have their own
# means.

of_audit <- list(group = c("g1", "g2"), job = c("j1", "j2", "j3"))

# The smallest p of the group by an engine, as a study's own fit has it; a rating is a point of 1 to 5.
p_of_group <- function(engine, formula, rows, ...) {
  rows$rating <- 1L + findInterval(rows$answer, c(-1.2, -.4, .4, 1.2))
  arguments <- list(formula = formula, levels = of_audit[intersect(names(of_audit), all.vars(str2lang(formula)))], ...)
  estimates <- suppressMessages(run_fit(engine, rows, arguments))$estimates
  estimates$p_value[estimates$term == "groupg2"]
}

claims_of_regressions <- list(
  # A gender over few names, by mixed and cumulative models and by logistic regressions that name no cluster.
  own_fits_of_names = function(n) {
    n <- min(n, 400)
    engines <- list(
      lme4 = function(rows) p_of_group("lme4", "rating ~ group + job + (1 | name)", rows),
      "lme4 with wordings" = function(rows) {
        p_of_group("lme4", "rating ~ group * job + (1 | name) + (1 | template)", rows)
      },
      clm = function(rows) p_of_group("clm", "rating ~ group + job", rows, declared = declared_of_audit()),
      logistic = function(rows) {
        p_of_group("logistic", "yes ~ group + job", transform(rows, yes = as.integer(answer > 0)),
                   declared = declared_of_audit())
      }
    )
    of_engine <- function(engine, n_names, name_sd) {
      design <- sprintf("%s, %d names (SD %g), 3 jobs, 2 templates, 2 repetitions", engine, n_names, name_sd)
      found <- with_seed(seed_of(design), vapply(seq_len(n), function(one) {
        rows <- simulated_audit(n_names, 3, 2, 2, name_sd = name_sd, yes_no = FALSE)
        isTRUE(suppressWarnings(engines[[engine]](rows)) < .05)
      }, NA))
      held("p < .05 of gender by a fit of the study's own where it does nothing", design, found, 0, .06)
    }
    do.call(rbind, Map(of_engine, rep(names(engines), 2), rep(c(8, 12), each = 4), rep(c(.5, 0), each = 4)))
  },
  # Names and templates both differ: clusters in two ways, ten of each.
  two_ways = function(n) {
    design <- "12 names, 12 templates (SD .3 each), 2 repetitions"
    found <- with_seed(seed_of(design), vapply(seq_len(n), function(one) {
      rows <- simulated_audit(12, 1, 12, 2, name_sd = .3, yes_no = FALSE)
      rows$answer <- rows$answer + stats::rnorm(12, 0, .3)[match(rows$template, unique(rows$template))]
      used <- rows_for(rows, "group", c("name", "template"), list(cells = "template"))
      isTRUE(suppressMessages(pairs_in(used, "group"))$p_value[[1]] < .05)
    }, NA))
    held("p < .05 of gender clustered in two ways where it does nothing", design, found, 0, .06)
  }
)
