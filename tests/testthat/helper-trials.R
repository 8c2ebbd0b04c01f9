conditions <- c("compatible", "incompatible")

# Balanced trials with a known effect, one value of a wording's own, and noise; the same on every machine.
made_trials <- function(effect = 30, wording_sd = 8, n_items = 12, n_wordings = 10, seed = 1) {
  withr::local_seed(seed)
  trials <- expand.grid(
    item = seq_len(n_items), wording = seq_len(n_wordings), condition = conditions, stringsAsFactors = FALSE
  )
  trials$condition_no <- match(trials$condition, conditions)
  of_wording <- stats::rnorm(n_wordings, sd = wording_sd)
  expected <- 100 + effect * (trials$condition == "incompatible") + of_wording[trials$wording]
  trials$tokens <- round(expected + stats::rnorm(nrow(trials), sd = 15))
  trials
}

fit_made <- function(trials, ...) {
  fit_lme4(trials, "tokens ~ condition + (1 | wording)", levels = list(condition = conditions), ...)
}

# The folder shared/ next to the checkout (or SLANT_SHARED); a test that needs it skips, with the reason, without it.
shared_path <- function(...) {
  folder <- Sys.getenv("SLANT_SHARED", file.path(root_folder(), "..", "shared"))
  path <- file.path(folder, ...)
  skip_if_not(file.exists(path), sprintf("%s is not here", file.path("shared", ...)))
  path
}

root_folder <- function() {
  folder <- normalizePath(test_path("."))
  while (!file.exists(file.path(folder, "DESCRIPTION")) && dirname(folder) != folder) {
    folder <- dirname(folder)
  }
  folder
}

published_trials <- function(folder, test) {
  file <- shared_path("data", "rmiat", folder, paste0(test, ".csv"))
  trials <- utils::read.csv(file, encoding = "UTF-8")
  is_compatible <- trials$condition %in% c("Stereotype-Consistent", "Association Compatible")
  trials$condition <- ifelse(is_compatible, "compatible", "incompatible")
  trials
}
