# Every argument of every exported function of R/, given wrong: what R says, as a table of call and sentence.
# Typed by test_r_mistakes.py: Rscript r_mistakes.R FOLDER_OF_R, in an empty folder that nothing may be written to.

folder <- commandArgs(trailingOnly = TRUE)[[1]]
for (file in list.files(file.path(folder, "R"), pattern = "[.]R$", full.names = TRUE)) source(file, encoding = "UTF-8")
exports <- sub("export\\((.*)\\)", "\\1", grep("^export\\(", readLines(file.path(folder, "NAMESPACE")), value = TRUE))

trials <- simulate_trials(n_wordings = 2)
games <- simulate_structured_games(p = .5, n_games = 2)
answered <- simulate_forced_choice(n_words = 2)
shares <- data.frame(group = c("wording", "item"), share = c(.1, .1))
rated <- data.frame(respondent = rep(1:5, 2), item = rep(c("a", "b"), each = 5), rating = c(1, 2, 4, 4, 6, 2, 2, 3, 5, 7))
sided <- data.frame(unit = rep(1:8, 3), item = rep(c("a", "b", "c"), each = 8), is_people = rep(c(FALSE, TRUE), 12),
                    rating = sin(1:24))
checked <- data.frame(people = c(rep(0:1, 30), rep(NA, 30)), coder = rep(0:1, 45))
scale_keys <- data.frame(scale = "s", item = c("a", "b"), key = 1)

# What each function needs so that the mistake is the only one. Without a row: its defaults.
needed <- list(
  amce = list(data = trials, outcome = "tokens", attributes = "condition"),
  amie = list(data = trials, outcome = "tokens", attributes = c("condition", "test")),
  impact_ratio = list(data = answered, outcome = "is_valid", attributes = "condition"),
  marginal_means = list(data = trials, outcome = "tokens", attributes = "condition"),
  mean_contrasts = list(data = trials, outcome = "tokens", attributes = "condition"),
  scale_reliability = list(data = rated, keys = scale_keys, limits = c(1, 7)),
  agreement = list(
    data = data.frame(text = rep(1:2, 2), coder = rep(c("a", "b"), each = 2), code = c("x", "y")), draws = 9
  ),
  code_drift = list(data = data.frame(occasion = rep(1:2, each = 4), is_equal = rep(0:1, 4))),
  coder_errors = list(data = checked),
  fit_dsl = list(data = checked, formula = "people ~ 1", codes = list(people = "coder")),
  fit_ppi = list(data = checked, formula = "people ~ 1", codes = list(people = "coder")),
  calibrate = list(data = answered, formula = "is_valid ~ condition", n = 1),
  collect_trials = list(study = "rmiat", simulated = TRUE, db = "new.duckdb"),
  alike = list(data = sided, outcome = "rating", n_draws = 9),
  compare_successor = list(data = data.frame(old = 1:6, new = c(2, 1, 4, 3, 6, 6), item = 1:6)),
  compare_games = list(data = games, between = "experiment", n_draws = 10),
  controlled_indices = list(n_games = 2, n_draws = 2),
  draw_figure = list(name = "plot_effect_sizes", data = trials),
  effect_size = list(data = trials),
  fit_brms = list(data = answered, formula = "is_valid ~ condition"),
  fit_crossed = list(data = trials),
  fit_forced_choice = list(data = answered),
  fit_clm = list(data = rated, formula = "rating ~ item"),
  fit_lm = list(data = trials, formula = "tokens ~ condition"),
  fit_logistic = list(data = answered, formula = "is_valid ~ condition"),
  fit_lme4 = list(data = trials, formula = "tokens ~ condition + (1 | wording)"),
  fit_stm = list(data = trials),
  game_indices = list(data = games, n_draws = 2, n_random = 0),
  interval_coverage = list(data = data.frame(model = "a", test = "b")),
  convergent_validity = list(
    data = data.frame(model = "a", test = 1:4, x = c(1, 3, 2, 4), x_error = 1, y = c(2, 1, 4, 3), y_error = 1)
  ),
  meta_analysis = list(data = data.frame(model = "a", test = 1:3, estimate = 1:3, std_error = 1)),
  mixed_model_table = list(fit = effect_size(trials)),
  open_trials = list(db = "none.duckdb"), read_fit = list(db = "none.duckdb"), read_topics = list(db = "none.duckdb"),
  stored_fits = list(db = "none.duckdb"), read_notes = list(files = "none.csv"), read_trials = list(file = "none.csv"),
  permutation_test = list(data = answered, formula = "is_valid ~ condition", permutations = 1, engine = "lme4"),
  plan_power = list(variances = shares),
  rank_ordered = list(data = games),
  intraclass_correlation = list(ratings = cbind(1:3, 3:1)),
  retest_reliability = list(data = data.frame(
    model = "a", trial_id = 1:3, first_answer = "a", later_answer = "b", first_value = 1:3, later_value = 3:1
  )),
  recover_contrasts = list(n = 1),
  replay = list(archive = "none.zip"),
  run_check = list(name = "check_equivalence", data = trials),
  watch_shifts = list(data = data.frame(prompt = rep(1:4, 2), occasion = rep(1:2, each = 4), value = sin(1:8))),
  run_fit = list(engine = "effect_size", data = trials),
  true_contrasts = list(parameters = forced_choice_parameters())
)
# Wrong for any argument of that kind; an argument's kind is that of its default, or of its name.
wrong <- list(
  data = list(3.5, "no such", NULL, mean, data.frame()),
  text = list(3.5, NA_character_, mean, list()),
  number = list("ten", NA_real_, -1, Inf, numeric(), mean, list()),
  flag = list("yes", NA, 2, mean)
)
kinds <- c(
  data = "data", ratings = "data", parameters = "data", variances = "data", notes = "data", fit = "text",
  formula = "text", db = "text", name = "text", engine = "text", study = "text", archive = "text", file = "text", files = "text", by = "text",
  contrast = "text", levels = "text", save_to = "text", view = "text", width = "number", height = "number",
  cores = "number", n_classes = "number", n_groups = "number", pilot = "number", again = "number", effect = "number",
  models = "text", columns = "text", between = "text", reference = "text", strata = "text", reference_model = "text",
  draws_to = "text", version = "text", arguments = "text", attributes = "text", cluster = "text", weights = "text",
  warmup = "number"
)

for (name in grep("^plot_", exports, value = TRUE)) needed[[name]] <- list(data = trials)

kind_of <- function(name, argument) {
  if (name == "mixed_model_table") {
    return(if (argument == "fit") "data" else "text")
  }
  default <- tryCatch(eval(formals(get(name))[[argument]]), error = function(problem) NULL)
  if (argument %in% names(kinds)) {
    return(kinds[[argument]])
  }
  if (is.logical(default)) "flag" else if (is.numeric(default)) "number" else if (is.character(default)) "text" else NA
}

# What is wrong elsewhere, and right here.
is_right <- function(name, argument, value) {
  (argument == "seed" || name == "simulate_trials" && argument == "effect") && identical(value, -1) ||
    argument == "arguments" && identical(value, list()) ||
    # a check says in its rows that there are none
    name == "run_check" && argument == "data" && is.data.frame(value)
}

words_of <- function(value) {
  if (is.function(value)) "mean" else if (is.data.frame(value)) "data.frame()" else paste(deparse(value), collapse = "")
}

said_to <- function(name, arguments) {
  tryCatch(
    {
      utils::capture.output(suppressWarnings(suppressMessages(do.call(name, arguments, quote = TRUE))))
      "NOTHING"
    },
    slant_error = function(problem) strsplit(conditionMessage(problem), "\n", fixed = TRUE)[[1]][[1]],
    error = function(problem) {
      paste("FROM INSIDE", gsub("[[:space:]]+", " ", conditionMessage(problem)))
    }
  )
}

for (name in exports) {
  for (argument in setdiff(names(formals(get(name))), "...")) {
    kind <- kind_of(name, argument)
    for (value in if (is.na(kind)) list() else wrong[[kind]]) {
      if (is_right(name, argument, value)) next
      given <- needed[[name]]
      given[argument] <- list(value)
      cat(sprintf("%s(%s = %s)\n    %s\n", name, argument, words_of(value), said_to(name, given)))
    }
  }
}
