# Answers of two models that talk of different things, one a bit more so when incompatible; the same on every machine.
made_talk <- function(n = 25, seed = 4) {
  withr::local_seed(seed)
  trials <- expand.grid(
    item = seq_len(n), condition = conditions, test = c("one", "two"), model = c("a", "b"), stringsAsFactors = FALSE
  )
  own <- list(
    a = c("bias", "stereotyp", "racial", "implicit", "harmful", "ethnic"),
    b = c("think", "sure", "check", "mix", "okay", "maybe")
  )
  shared <- c("list", "group", "answer", "question", "user", "mean")
  talk <- function(model, condition) {
    words <- c(own[[model]], shared, if (condition == "incompatible") own$a)
    paste(sample(words, 14, replace = TRUE), collapse = " ")
  }
  trials$trial_id <- sprintf("t%03d", seq_len(nrow(trials)))
  trials$reasoning_text <- mapply(talk, trials$model, trials$condition, USE.NAMES = FALSE)
  trials$tokens <- round(100 + 20 * (trials$condition == "incompatible") + stats::rnorm(nrow(trials), sd = 15))
  trials
}

fit_talk <- function(trials = made_talk(), ...) {
  fit_stm(trials, topics = 3, lower_thresh = 5, max_em_its = 6, levels = list(condition = conditions), ...)
}

skip_without_stm <- function() {
  for (package in c("stm", "tm", "SnowballC")) skip_if_not_installed(package)
}
