# Claims about effects of attributes of profiles, one function each; bench/truth.R runs them.

profile_jobs <- list(none = c("clerk", "cook"), some = c("clerk", "cook", "nurse"), much = c("clerk", "cook", "nurse",
                                                                                            "doctor"))

# What a profile is worth, and the chance that it is taken: people differ (SD 1), and so do answers (SD 1).
profile_worth <- function(rows) .6 * (rows$group == "b") + .4 * (rows$school == "much") + .5 * (rows$job == "nurse") +
  (rows$job == "doctor") * (1 + .4 * (rows$group == "b"))

chance_of_profile <- function(rows) stats::pnorm((profile_worth(rows) - .5) / sqrt(2))

simulated_profiles <- function(n_people) {
  rows <- expand.grid(place = 1:6, person = seq_len(n_people))
  n <- nrow(rows)
  rows$group <- sample(c("a", "b"), n, TRUE)
  rows$school <- sample(names(profile_jobs), n, TRUE)
  rows$job <- vapply(profile_jobs[rows$school], sample, "", size = 1)
  worth <- profile_worth(rows) + stats::rnorm(n_people)[rows$person] + stats::rnorm(n)
  rows$chosen <- as.integer(worth > .5)
  rows
}

# All profiles that can be shown, with how often they are.
all_profiles <- function() {
  rows <- do.call(rbind, lapply(names(profile_jobs), function(school) {
    expand.grid(group = c("a", "b"), school = school, job = profile_jobs[[school]], stringsAsFactors = FALSE)
  }))
  rows$share <- 1 / 2 / 3 / lengths(profile_jobs[rows$school])
  rows$chance <- chance_of_profile(rows)
  rows
}

true_mean <- function(name, level) {
  rows <- all_profiles()
  rows <- rows[rows[[name]] == level, ]
  sum(rows$share * rows$chance) / sum(rows$share)
}

# Equal weights over the levels of the linked attribute that both sides may have; groups are half and half.
true_effect <- function(name, level, reference, linked) {
  rows <- all_profiles()
  of <- function(side) {
    own <- rows[rows[[name]] == side, ]
    tapply(own$chance, own[[linked]], mean)
  }
  shared <- intersect(names(of(level)), names(of(reference)))
  mean(of(level)[shared] - of(reference)[shared])
}

holds_truth <- function(rows, truth) rows$conf_low <= truth & truth <= rows$conf_high

# One model is one respondent: 20 templates, in which the effect of the group differs (SD .3), each with 30 words.
simulated_templates <- function(effect, slope_sd, n_templates = 20, n_words = 30) {
  rows <- expand.grid(group = c("a", "b"), word = seq_len(n_words), template = seq_len(n_templates),
                      stringsAsFactors = FALSE)
  shift <- stats::rnorm(n_templates, 0, .5)[rows$template]
  slope <- effect + stats::rnorm(n_templates, 0, slope_sd)[rows$template]
  rows$rating <- 4 + shift + slope * (rows$group == "b") + stats::rnorm(nrow(rows), 0, .8)
  rows
}

claims_of_profiles <- list(
  # Known utilities, two schools from which some jobs are never shown; truths from the table of all profiles.
  profiles = function(n) {
    truths <- c(
      mean_b = true_mean("group", "b"), mean_doctor = true_mean("job", "doctor"),
      nurse = true_effect("job", "nurse", "clerk", "school"), doctor = true_effect("job", "doctor", "clerk", "school"),
      much = true_effect("school", "much", "none", "job")
    )
    levels <- list(job = c("clerk", "cook", "nurse", "doctor"), school = c("none", "some", "much"))
    attributes <- c("group", "school", "job")
    found <- with_seed(3, vapply(seq_len(n), function(k) {
      rows <- simulated_profiles(300)
      means <- marginal_means(rows, "chosen", attributes, "person")$estimates
      effects <- amce(rows, "chosen", attributes, "person", linked = list(c("school", "job")), levels = levels)$estimates
      all <- rbind(means[match(c("group: b", "job: doctor"), means$term), ],
                   effects[match(c("job: nurse", "job: doctor", "school: much"), effects$term), ])
      holds_truth(all, truths)
    }, c(mean_b = NA, mean_doctor = NA, nurse = NA, doctor = NA, much = NA)))
    names <- c(
      mean_b = "marginal mean, group b", mean_doctor = "marginal mean, doctor", nurse = "AMCE, nurse (two strata)",
      doctor = "AMCE, doctor (one stratum)", much = "AMCE, much school (two strata)"
    )
    do.call(rbind, lapply(names(names), function(name) {
      held("95 % intervals of attributes hold the truth", names[[name]], found[name, ], .93, .97)
    }))
  },
  # One respondent, 20 templates whose effects differ: templates as they are (a factor), the model with a slope by template, clusters.
  templates = function(n) {
    found <- with_seed(4, vapply(seq_len(n), function(k) {
      rows <- simulated_templates(.2, .3)
      rows$template <- sprintf("t%02d", rows$template)
      levels <- list(group = c("a", "b"))
      fixed <- c(levels, list(template = sort(unique(rows$template))))
      plain <- fit_lm(rows, "rating ~ group + template", levels = fixed, cluster = "template")
      mixed <- suppressMessages(fit_lme4(rows, "rating ~ group + (1 + group | template)", levels = levels))
      of_group <- function(rows) holds_truth(rows[rows$term == "groupb", ], .2)
      c(plain = of_group(plain$estimates), mixed = of_group(mixed$estimates), cr2 = of_group(plain$tables$clustered))
    }, c(plain = NA, mixed = NA, cr2 = NA)))
    name <- "one model, 20 templates of 30 words, SD of the effect .3"
    rbind(
      held("95 % intervals of a mixed model with a slope by template hold the effect", name, found["mixed", ], .93, .97),
      held("the same over clusters, CR2", name, found["cr2", ], .93, .97),
      held("those of these templates alone do not", name, found["plain", ], 0, .85)
    )
  }
)
