# Claims about verdicts in words and about checks that find something where nothing is; bench/truth.R runs them.

# Designs of `--until-width`, and the share of runs that the width is set for.
stopped_designs <- list(c(8, 5, 20, 20), c(16, 4, 10, 20), c(8, 20, 20, 20), c(16, 20, 10, 20))
shares_that_stop <- c(.1, .35, .5, .9)

# Where runs end that look after each repetition: the interval holds the effect, and whether the width was met. Those
# that stop have intervals with the margin; others the model's own after the last look.
stopped_runs <- function(looks, width) {
  half <- stats::qt(.975, looks[, "df", ]) * looks[, "std_error", ]
  wide <- half * width_margin(looks[, "df", ])
  error <- abs(looks[, "estimate", ] - 10)
  n_looks <- nrow(half)
  at <- apply(wide <= width, 2, function(met) which(met)[1])
  place <- cbind(ifelse(is.na(at), n_looks, at), seq_along(at))
  data.frame(has_stopped = !is.na(at), holds = error[place] <= ifelse(is.na(at), half[place], wide[place]))
}

# Prompts of names and jobs, some of which are always refused, each asked so often; nothing depends on a level.
refused_prompts <- function(n_repetitions, share = .15) {
  prompts <- expand.grid(name = sprintf("n%d", 1:8), job = sprintf("j%d", 1:6), stringsAsFactors = FALSE)
  prompts$gender <- ifelse(prompts$name %in% sprintf("n%d", 1:4), "a", "b")
  prompts$item <- paste(prompts$name, prompts$job)
  refused <- stats::runif(nrow(prompts)) < share
  rows <- prompts[rep(seq_len(nrow(prompts)), n_repetitions), ]
  rows$outcome <- ifelse(rep(refused, n_repetitions), "refused", "answered")
  rows
}

# Ratings of prompts that differ (SD 1), three of each, whose odds are proportional.
proportional_ratings <- function(n_a_level) {
  rows <- expand.grid(number = seq_len(n_a_level / 3), copy = 1:3, group = c("a", "b", "c"), stringsAsFactors = FALSE)
  rows$prompt <- paste(rows$number, rows$group)
  prompts <- unique(rows$prompt)
  worth <- stats::rnorm(length(prompts))[match(rows$prompt, prompts)] + .5 * (rows$group == "b")
  rows$rating <- 1L + findInterval(stats::rlogis(nrow(rows)) + worth, c(-2, -.7, .2, 1, 2.2, 3))
  rows
}

# Three groups of 40 people and the model as each of them, 20 times, to 12 items; what personas get right is planted.
drawn_personas <- function() {
  centred <- function(values) sweep(values, 2, colMeans(values))
  model <- centred(matrix(stats::rnorm(36), 3))
  people <- centred(.7 * model + matrix(stats::rnorm(36, 0, .4), 3))
  side <- function(n, is_people, means) {
    rows <- expand.grid(unit = seq_len(n), group = 1:3, item = 1:12)
    rows$value <- means[cbind(rows$group, rows$item)] + stats::rnorm(nrow(rows), 0, 2)
    rows$unit <- paste(rows$group, rows$unit)
    cbind(rows, is_people = is_people)
  }
  rows <- rbind(side(20, FALSE, model), side(40, TRUE, people))
  list(
    rows = transform(rows, group = as.character(group), item = as.character(item)),
    correlation = stats::cor(c(model), c(people)), slope = sum(model * people) / sum(model^2)
  )
}

# A conjoint of two models in which nothing matters: 60 tasks of two profiles, each with a choice and a rating; one in
# fifty is refused or malformed, with both answers.
clean_conjoint <- function() {
  rows <- expand.grid(position = 1:2, task = 1:60, model = c("m1", "m2"), test = c("choice", "rating"),
                      stringsAsFactors = FALSE)
  rows$item <- paste(rows$model, rows$task)
  task <- as.integer(factor(rows$item))
  for (name in conjoint_attributes) {
    rows[[name]] <- sample(c("x", "y", "z"), 2 * max(task), TRUE)[2 * task - rows$position + 1]
  }
  rows$outcome <- sample(c("answered", "refused", "malformed"), max(task), TRUE, c(.98, .015, .005))[task]
  chosen <- sample(1:2, max(task), TRUE)[task] == rows$position
  rated <- 1 + findInterval(stats::rlogis(nrow(rows)), c(-2, -.7, .2, 1, 2.2, 3))
  rows$value <- ifelse(rows$test == "choice", as.integer(chosen), rated)
  rows
}

conjoint_attributes <- c("size", "way", "rent", "name")

# Which checks say caution (the rules of checks.toml).
cautions_of <- function(rows) {
  by <- c("model", "test")
  valid <- rows[rows$outcome == "answered", ]
  missing <- check_missing_levels(rows, conjoint_attributes, by, once = "item", prompt = "item", n_draws = 399)
  places <- check_position_effects(valid, by, "value", attributes = conjoint_attributes, cluster = "item")
  balance <- check_balance(rows, conjoint_attributes, "model", once = c("item", "position"))
  rated <- valid[valid$test == "rating", ]
  odds <- suppressWarnings(suppressMessages(
    check_proportional_odds(rated, conjoint_attributes, "model", "value", cluster = "item")
  ))
  c(
    missing = any_found(missing$p_holm), place = any_found(places$p_value, .001),
    balance = any_found(balance$p_value[balance$kind == "level"], .001),
    odds = any(odds$largest_gap > .1 & odds$p_holm < .05, na.rm = TRUE)
  )
}

# Ratings of 20 personas on three scales of four items, two of each key, by two models that agree with nothing.
clean_questionnaire <- function() {
  rows <- expand.grid(respondent = 1:20, item = 1:12, model = c("m1", "m2"), stringsAsFactors = FALSE)
  rows$scale <- sprintf("s%d", (rows$item - 1) %% 3 + 1)
  rows$key <- ifelse(rows$item %% 2 == 0, 1, -1)
  rows$rating <- sample(1:5, nrow(rows), TRUE)
  rows
}

# Prompts of 24 names (half of either gender) and 6 jobs asked of a model and its successor, which differs by `shift` in
# all and by `effect` in one gender, and in each name and prompt by chance; shares of refusals differ by `rate`.
old_and_new <- function(shift = 0, effect = 0, rate = 0) {
  rows <- expand.grid(name = sprintf("n%02d", 1:24), job = sprintf("j%d", 1:6), stringsAsFactors = FALSE)
  rows$gender <- ifelse(rows$name > "n12", "b", "a")
  rows$item <- paste(rows$name, rows$job)
  of_name <- function(sd) stats::rnorm(24, 0, sd)[as.integer(factor(rows$name))]
  n <- nrow(rows)
  rows$old <- 4 + of_name(.5) + stats::rnorm(n, 0, .5)
  rows$new <- rows$old + shift + effect * (rows$gender == "b") + of_name(.15) + stats::rnorm(n, 0, .6)
  rows$measure <- "rating"
  refused <- rows
  refused$measure <- "refused"
  refused$old <- as.double(stats::runif(n) < .1)
  refused$new <- as.double(stats::runif(n) < .1 + rate)
  rbind(rows, refused)
}

successor_verdicts <- function(n, seed, bound, ...) {
  declared <- list(properties = list(gender = "name"), cells = c("name", "job"), prompt = "item")
  with_seed(seed, vapply(seq_len(n), function(k) {
    found <- compare_successor(
      old_and_new(...), "gender", "item", by = "measure", declared = declared, rates = "refused", bound = bound
    )
    stats::setNames(found$verdict, paste(found$measure, found$term))
  }, character(3)))
}

claims_of_verdicts <- list(
  # Stopping on width, where a tenth to nine tenths of the runs meet it.
  stopping = function(n) {
    rows <- lapply(seq_along(stopped_designs), function(number) {
      design <- stopped_designs[[number]]
      looks <- with_seed(number, simplify2array(lapply(seq_len(5 * n), function(run) {
        simulate_balanced_effects(design[[1]], design[[2]], 1:8, 10, design_variances(design))
      })))
      wide <- stats::qt(.975, looks[, "df", ]) * looks[, "std_error", ] * width_margin(looks[, "df", ])
      of_shares <- lapply(shares_that_stop, function(share) {
        found <- stopped_runs(looks, stats::quantile(apply(wide, 2, min), share))
        name <- sprintf("%s, met by %g %%", design_name(design), 100 * share)
        of_met <- found$holds[found$has_stopped]
        rbind(
          held("a run that may stop on width: its interval holds the effect", name, found$holds, .93),
          held("of those that met the width", name, of_met, if (share >= .5) .93 else if (share > .2) .92 else .87)
        )
      })
      do.call(rbind, of_shares)
    })
    do.call(rbind, rows)
  },
  # Studies in which nothing is wrong: any check that says caution.
  clean_studies = function(n) {
    found <- with_seed(28, replicate(n, cautions_of(clean_conjoint())))
    agreed <- with_seed(29, replicate(n, {
      any_found(check_acquiescence(clean_questionnaire(), c("scale", "item", "key"), c(1, 5), "model")$p_holm)
    }))
    claim <- "a check of a clean study says caution"
    name <- "conjoint of two models, 60 tasks"
    rbind(
      held(claim, name, apply(found, 2, any), 0, .1),
      do.call(rbind, lapply(rownames(found), function(check) {
        printed(claim, paste0(name, ": ", check), found[check, ])
      })),
      held(claim, "questionnaire of two models: agreement", agreed, 0, .1)
    )
  },
  # Missing answers by level: prompts that are always refused.
  missing_levels = function(n) {
    rows <- lapply(c(1, 5, 20), function(n_repetitions) {
      found <- with_seed(n_repetitions, vapply(seq_len(n), function(k) {
        table <- check_missing_levels(
          refused_prompts(n_repetitions), c("name", "gender", "job"), prompt = "item", n_draws = 399
        )
        any(table$p_holm < .05)
      }, NA))
      name <- sprintf("8 names, 6 jobs, %d repetitions, 15 %% of prompts always refused", n_repetitions)
      held("missing answers by level: any p by Holm < .05 where no level matters", name, found, 0, .06)
    })
    do.call(rbind, rows)
  },
  # Proportional odds: caution where odds are proportional.
  proportional_odds = function(n) {
    rows <- lapply(c(48, 96, 480), function(n_a_level) {
      found <- with_seed(n_a_level, vapply(seq_len(n), function(k) {
        one <- suppressMessages(check_proportional_odds(proportional_ratings(n_a_level), "group", cluster = "prompt"))
        c(caution = isTRUE(one$largest_gap > .1 && one$p_holm < .05), gap = isTRUE(one$largest_gap > .1))
      }, c(caution = NA, gap = NA)))
      name <- sprintf("%d ratings a level, three a prompt", n_a_level)
      rbind(
        held("proportional odds: a caution where they are", name, found["caution", ], 0, .06),
        printed("there, a gap of more than 10 points", name, found["gap", ])
      )
    })
    do.call(rbind, rows)
  },
  # Verdicts at the bound: equivalence and difference are each wrong in 5 % at most; a difference far below the bound is
  # never called one.
  verdicts = function(n) {
    verdict_at <- function(share) {
      with_seed(21, vapply(seq_len(n), function(k) {
        rows <- model_and_people(n_model = 150)
        limit <- .2 * sqrt(mean(tapply(rows$rating[rows$is_people], rows$item[rows$is_people], stats::var)))
        rows$rating[!rows$is_people] <- rows$rating[!rows$is_people] + share * limit
        alike(rows, "rating", n_draws = 1)$differences$finding[[1]]
      }, ""))
    }
    at <- verdict_at(1)
    name <- "150 answers, 150 people, 10 ratings, bound .2 SD"
    rbind(
      held("at the bound: equivalent", name, at == "equivalent within the bound", 0, .06),
      held("at the bound: differs by more", name, at == "differs by more than the bound", 0, .05),
      held("at half the bound: differs by more", name, verdict_at(.5) == "differs by more than the bound", 0, .01)
    )
  },
  # A successor at the bound of a mean, an effect and a rate; one that is the same is never said to differ.
  successor = function(n) {
    bounds <- c(rating = .3, refused = .1)
    terms <- c("rating mean", "rating gender: b", "refused mean")
    at <- successor_verdicts(n, 23, bounds, shift = .15, effect = .3, rate = .1)
    same <- successor_verdicts(n, 25, bounds)
    rows <- lapply(terms, function(term) {
      rbind(
        held("a successor at the bound: equivalent", term, at[term, ] == "equivalent within the bound", 0, .06),
        held("a successor at the bound: differs by more", term, at[term, ] == "differs by more than the bound", 0, .06),
        held("the same successor: differs by more", term, same[term, ] == "differs by more than the bound", 0, .01),
        printed("the same successor: equivalent", term, same[term, ] == "equivalent within the bound")
      )
    })
    do.call(rbind, rows)
  },
  # Ratings of a successor in the unit of the old model: the effect that it would have there.
  linking = function(n) {
    found <- with_seed(24, vapply(seq_len(n), function(k) {
      rows <- expand.grid(group = c("a", "b"), item = 1:60, stringsAsFactors = FALSE)
      worth <- .5 * (rows$group == "b") + stats::rnorm(60)[rows$item]
      rows$old <- 4 + worth + stats::rnorm(nrow(rows), 0, .5)
      rows$new <- 5 + .6 * (worth + stats::rnorm(nrow(rows), 0, .5))
      one <- compare_successor(rows, "group", "item")[2, ]
      c(holds = abs(one$linked - .5) <= stats::qt(.975, 59) * one$linked_error, linkable = one$is_linkable)
    }, c(holds = NA, linkable = NA)))
    name <- "60 items of two levels, the new scale .6 of the old"
    rbind(
      held("95 % intervals of linked effects hold the effect in the old unit", name, found["holds", ], .93, .97),
      held("there, linking is said to be defensible", name, found["linkable", ], .93)
    )
  },
  # A model that is watched: 60 looks, and a shift of .2 SD after thirty quiet occasions, 200 prompts each.
  watch = function(n) {
    looks <- function(n_occasions, shift, from) {
      rows <- expand.grid(prompt = 1:200, occasion = seq_len(n_occasions))
      rows$value <- stats::rnorm(200)[rows$prompt] + stats::rnorm(nrow(rows)) + shift * (rows$occasion >= from)
      watch_shifts(rows)
    }
    alarms <- with_seed(26, replicate(n, any(looks(61, 0, Inf)$is_alarm)))
    found <- with_seed(27, replicate(n, any(looks(37, .2, 32)$is_alarm)))
    rbind(
      held("a watch of 60 looks: any false alarm", "200 prompts, nothing moves", alarms, 0, .05),
      held("a shift is found within six occasions", "200 prompts, .2 SD after 30 quiet ones", found, .5)
    )
  },
  # Personas: intervals of the correlation and of the slope of people on the model.
  personas = function(n) {
    found <- with_seed(22, vapply(seq_len(n), function(k) {
      drawn <- drawn_personas()
      one <- suppressMessages(personas_of(drawn$rows, .05, 199, k))
      c(
        correlation = one$conf_low <= drawn$correlation && drawn$correlation <= one$conf_high,
        slope = one$slope_low <= drawn$slope && drawn$slope <= one$slope_high,
        own = one$conf_low <= one$correlation && one$correlation <= one$conf_high
      )
    }, c(correlation = NA, slope = NA, own = NA)))
    name <- "3 groups of 40 people and 20 answers as each, 12 items"
    rbind(
      held("95 % intervals of personas hold the correlation", name, found["correlation", ] %in% TRUE, .93),
      held("95 % intervals of personas hold the slope", name, found["slope", ] %in% TRUE, .93),
      held("the interval holds its own estimate", name, found["own", ] %in% TRUE, .99)
    )
  }
)
