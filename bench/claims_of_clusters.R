# Claims about errors over few clusters, one function each; bench/truth.R runs them. Each design is one that broke what
# was computed before: names whose jobs were taken as independent, levels of three clusters, many pairs of names.

# The same seed for a claim wherever it is run: of its name.
seed_of <- function(name) sum(utf8ToInt(name) * seq_along(utf8ToInt(name))) %% 1e6

# An audit in which nothing differs but by chance: `n_names` in `n_groups`, each with all jobs, templates, repetitions;
# names and items (a name with a job) differ, on the logit scale of yes/no or in points.
simulated_audit <- function(n_names, n_jobs, n_templates = 1, n_repetitions = 1, n_groups = 2, name_sd = 0, item_sd = 0,
                            share = .5, yes_no = TRUE) {
  rows <- expand.grid(
    repetition = seq_len(n_repetitions), template = sprintf("t%d", seq_len(n_templates)),
    job = sprintf("j%d", seq_len(n_jobs)), name = sprintf("n%02d", seq_len(n_names)), stringsAsFactors = FALSE
  )
  name <- match(rows$name, unique(rows$name))
  job <- match(rows$job, unique(rows$job))
  rows$group <- sprintf("g%d", (name - 1) %% n_groups + 1)
  rows$item <- paste(rows$name, rows$job)
  worth <- stats::rnorm(n_names, 0, name_sd)[name] + stats::rnorm(n_jobs, 0, .3)[job] +
    stats::rnorm(n_names * n_jobs, 0, item_sd)[(name - 1) * n_jobs + job]
  n <- nrow(rows)
  rows$answer <- if (yes_no) {
    as.integer(stats::runif(n) < stats::plogis(stats::qlogis(share) + worth))
  } else {
    worth + stats::rnorm(n)
  }
  rows
}

declared_of_audit <- function(...) {
  list(properties = list(group = "name"), cells = c("name", "job", "template"), prompt = c("item", "template"))
}

# A row a level: four groups, one of which has `few` of `n_clusters`, each with some answers.
simulated_levels <- function(few, n_clusters, n_answers = 6, share = .5, yes_no = FALSE, cluster_sd = .5) {
  cluster <- rep(seq_len(n_clusters), each = n_answers)
  worth <- stats::rnorm(n_clusters, 0, cluster_sd)[cluster]
  group <- ifelse(cluster <= few, "few", sprintf("g%d", (cluster - few - 1) %% 3 + 1))
  n <- length(cluster)
  answer <- if (yes_no) as.integer(stats::runif(n) < stats::plogis(stats::qlogis(share) + worth)) else worth + stats::rnorm(n)
  data.frame(cluster, group, answer)
}

# The share that a logit of `share` with normal differences between clusters has on average.
mean_share <- function(share, sd) {
  stats::integrate(function(z) stats::plogis(stats::qlogis(share) + sd * z) * stats::dnorm(z), -8, 8)$value
}

# What mean_contrasts(), marginal_means() and amce() compute of one group of rows, without the loop over groups, which
# would take most of the time.
rows_for <- function(rows, attributes, cluster = "item", declared = declared_of_audit()) {
  attribute_rows(rows, "answer", attributes, cluster, NULL, NULL, declared)
}

pairs_in <- function(used, name) pairs_of(name, NULL, rows_of(used, name))$estimates

any_found <- function(p_values, alpha = .05) any(p_values < alpha, na.rm = TRUE)

claims_of_clusters <- list(
  # A level that was seen in few of many clusters, and equal groups of few clusters each.
  few_clusters = function(n) {
    designs <- rbind(
      expand.grid(few = 3, of = c(24, 48, 96)), expand.grid(few = 5, of = 80), expand.grid(few = 8, of = 128),
      data.frame(few = c(3, 5, 8, 20), of = 4 * c(3, 5, 8, 20))
    )
    kinds <- data.frame(kind = c("ratings", "yes in half", "yes in a tenth"), yes_no = c(FALSE, TRUE, TRUE),
                        share = c(.5, .5, .1))
    do.call(rbind, lapply(seq_len(nrow(designs)), function(i) {
      do.call(rbind, lapply(seq_len(nrow(kinds)), function(k) {
        kind <- kinds[k, ]
        truth <- if (kind$yes_no) mean_share(kind$share, .5) else 0
        name <- sprintf("%s, a level in %d of %d clusters", kind$kind, designs$few[[i]], designs$of[[i]])
        found <- with_seed(seed_of(name), vapply(seq_len(n), function(one) {
          rows <- simulated_levels(designs$few[[i]], designs$of[[i]], share = kind$share, yes_no = kind$yes_no)
          if (length(unique(rows$answer)) < 2) return(c(NA, NA))
          used <- rows_for(rows, "group", "cluster", list(properties = list(group = "cluster")))
          means <- means_of_levels(used$factors$group, rows_of(used, "group"), "small_sample")$rows
          c(holds_truth(means[1, ], truth), isTRUE(pairs_in(used, "group")$p_value[[1]] < .05))
        }, c(mean = NA, pair = NA)))
        found <- found[, !is.na(found[1, ]), drop = FALSE]
        rbind(
          held("95 % intervals of marginal means over few clusters hold the truth", name, found[1, ], .93,
               if (kind$yes_no) 1 else .97),
          held("p < .05 of a pair of equal levels", name, found[2, ], 0, .06)
        )
      }))
    }))
  },
  # Gender has no effect; names differ by SD .3 (residual 1).
  names_and_jobs = function(n) {
    do.call(rbind, Map(function(n_names, n_jobs) {
      name <- sprintf("%d names (SD .3) with %d jobs each", n_names, n_jobs)
      found <- with_seed(seed_of(name), vapply(seq_len(n), function(one) {
        rows <- simulated_audit(n_names, n_jobs, name_sd = .3, yes_no = FALSE)
        pairs_in(rows_for(rows, "group"), "group")$p_value[[1]] < .05
      }, NA))
      held("p < .05 of gender where it does nothing, errors over names", name, found, 0, .06)
    }, c(8, 16, 36), c(3, 5, 9)))
  },
  pairs_of_names = function(n) {
    of_design <- function(design, make, attribute) {
      found <- with_seed(seed_of(design), vapply(seq_len(n), function(one) {
        any_found(stats::p.adjust(pairs_in(rows_for(make(), attribute), attribute)$p_value, "holm"))
      }, NA))
      held("any corrected p < .05 over all pairs of equal names or groups", design, found, 0, .06)
    }
    rbind(
      do.call(rbind, lapply(c(8, 16, 36), function(n_names) {
        of_design(sprintf("%d names, 3 jobs, 6 yes or no each", n_names),
                  function() simulated_audit(n_names, 3, 2, 3), "name")
      })),
      of_design("four groups of four names (SD .5 log odds), 3 jobs, 2 templates, 3 repetitions",
                function() simulated_audit(16, 3, 2, 3, n_groups = 4, name_sd = .5), "group"),
      of_design("16 names, jobs of each differ (SD .5 log odds), 3 jobs, 6 yes or no each",
                function() simulated_audit(16, 3, 2, 3, item_sd = .5), "name")
    )
  },
  impact_ratios = function(n) {
    groups <- function(size, share) {
      data.frame(group = rep(sprintf("g%d", 1:8), each = size), answer = as.integer(stats::runif(8 * size) < share))
    }
    equal <- function(design, size, share) {
      found <- with_seed(seed_of(design), vapply(seq_len(n), function(one) {
        rows <- groups(size, share)
        used <- rows_of(rows_for(rows, "group", NULL, list()), "group")
        highest <- ratio_rows("group", used, "highest")
        others <- ratio_rows("group", used, "others")
        named <- ratio_rows("group", used, "g1")
        c(
          below_one = any(highest$conf_high < 1, na.rm = TRUE), below = any(highest$is_below_four_fifths, na.rm = TRUE),
          others = others$conf_high[[2]] < 1 || others$conf_low[[2]] > 1, named = isTRUE(named$p_value[[2]] < .05)
        )
      }, c(below_one = NA, below = NA, others = NA, named = NA)))
      rbind(
        held("an interval against the highest rate is wholly below 1 where all rates are equal", design,
             found["below_one", ], 0, .06),
        held("a level is below four fifths of the highest where all rates are equal", design, found["below", ], 0, .06),
        held("a level differs from all others where all rates are equal", design, found["others", ], 0, .06),
        held("a level differs from the reference where all rates are equal", design, found["named", ], 0, .06)
      )
    }
    by_name <- function(n_names) {
      design <- sprintf("two groups of %d names (SD .5 log odds), 3 jobs, 6 yes or no each", n_names / 2)
      found <- with_seed(seed_of(design), vapply(seq_len(n), function(one) {
        rows <- simulated_audit(n_names, 3, 2, 3, name_sd = .5)
        isTRUE(ratio_rows("group", rows_of(rows_for(rows, "group"), "group"), "g1")$p_value[[2]] < .05)
      }, NA))
      held("an impact ratio differs from 1 where rates are equal, errors over names", design, found, 0, .06)
    }
    rbind(
      equal("8 groups of 40, rate .5", 40, .5), equal("8 groups of 60, rate .2", 60, .2),
      do.call(rbind, lapply(c(8, 16), by_name))
    )
  },
  interactions_of_few = function(n) {
    design <- "two groups of 4 names (SD .5), 3 jobs, 2 templates, 3 repetitions"
    found <- with_seed(seed_of(design), vapply(seq_len(n), function(one) {
      rows <- simulated_audit(8, 3, 2, 3, name_sd = .5, item_sd = .3)
      fit <- amie(rows, "answer", c("group", "job"), "item", declared = declared_of_audit())$estimates
      isTRUE(fit$conf_low[[1]] <= 0 && fit$conf_high[[1]] >= 0)
    }, NA))
    held("95 % intervals of interaction effects over few names hold 0", design, found, .93, 1)
  }
)
