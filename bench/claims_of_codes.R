# Claims about texts that a model codes and people check; bench/truth.R runs them.

# Texts of two conditions that do not differ, of `names` whose rates differ (or of none), and a coder whose false
# positives are .15 more frequent in the second condition.
coded_texts <- function(n, labels, rate, names = NULL) {
  name <- if (is.null(names)) seq_len(n) else rep_len(seq_len(names), n)
  condition <- if (is.null(names)) stats::rbinom(n, 1, .5) else name %% 2
  differs <- if (is.null(names)) 0 else stats::rnorm(names, 0, .6)[name]
  truth <- stats::rbinom(n, 1, stats::plogis(stats::qlogis(rate) + differs))
  code <- ifelse(truth == 1, stats::rbinom(n, 1, .85), stats::rbinom(n, 1, .05 + .15 * condition))
  people <- replace(rep(NA, n), sample.int(n, labels), 1)
  data.frame(name, condition, code, people = people * truth)
}

claims_of_codes <- list(
  coded_texts = function(n) {
    of_design <- function(labels, rate, names) {
      over <- if (!is.null(names)) "name"
      design <- sprintf(
        "2,000 texts, %d coded by people, rate %g%s", labels, rate, if (is.null(names)) "" else ", 40 names"
      )
      found <- with_seed(seed_of(design), vapply(seq_len(n), function(one) {
        rows <- coded_texts(2000, labels, rate, names)
        fit <- suppressMessages(fit_dsl(rows, "people ~ condition", list(people = "code"), cluster = over))
        if (is.null(fit$tables$corrections)) {
          return(rep(NA, 4)) # people coded too few of one kind, which is said
        }
        effect <- fit$tables$corrections[fit$tables$corrections$term == "condition", ]
        c(effect$p_value[[1]] < .05, effect$p_value[[3]] < .05, effect$conf_low[[3]] <= 0 && effect$conf_high[[3]] >= 0,
          effect$std_error[[3]] <= 1.02 * effect$std_error[[2]])
      }, logical(4)))
      is_fitted <- !is.na(found[1, ])
      rbind(
        printed("p < .05 of a condition that does nothing, by codes taken as truth", design, found[1, is_fitted]),
        held("p < .05 there by fit_dsl()", design, found[2, is_fitted], 0, .06),
        held("95 % intervals of fit_dsl() hold", design, found[3, is_fitted], .93, .97),
        printed("its standard error is at most 2 % above that of people alone", design, found[4, is_fitted])
      )
    }
    do.call(rbind, Map(of_design, c(200, 40, 60, 200), c(.3, .3, .1, .3), list(NULL, NULL, NULL, 40)))
  },
  # Seconds of processor, the median of runs that take turns.
  speed_of_codes = function(n) {
    size <- 1e5
    texts <- coded_texts(size, 500, .3, 200)
    for (name in c("job", "origin")) texts[[name]] <- sample(letters[1:5], size, TRUE)
    for (coder in 1:3) texts[[paste0("coder_", coder)]] <- stats::rbinom(size, 1, .2 + .5 * texts$code)
    coders <- paste0("coder_", 1:3)
    long <- data.frame(
      text = rep(seq_len(size), 3), coder = rep(coders, each = size), code = unlist(texts[coders]),
      texts[rep(seq_len(size), 3), c("condition", "job", "origin")]
    )
    seconds <- function(code) sum(system.time(code)[c("user.self", "sys.self")])
    levels <- list(job = letters[1:5], origin = letters[1:5])
    ratios <- replicate(min(n, 5), {
      c(
        seconds(agreement(long)) / seconds(stats::lm(code ~ condition + job + origin, long)),
        seconds(suppressMessages(fit_dsl(
          texts, "people ~ condition + job + origin", list(people = coders), levels = levels, cluster = "name"
        ))) / seconds(stats::lm(coder_1 ~ condition + job + origin, texts))
      )
    })
    in_time <- function(what, ratios) {
      claim <- sprintf("%s: at most 5 times one lm() of its rows (%.1f in the median)", what, stats::median(ratios))
      held(claim, "1e5 texts x 3 coders, 500 coded by people", ratios <= 5, .5)
    }
    megabytes <- sum(gc()[, 6])
    rbind(
      in_time("agreement()", ratios[1, ]), in_time("clustered AMCEs by fit_dsl()", ratios[2, ]),
      held(sprintf("at most 1,000 MB of R for both (%.0f)", megabytes), "1e5 texts x 3 coders", megabytes <= 1000, .5)
    )
  }
)
