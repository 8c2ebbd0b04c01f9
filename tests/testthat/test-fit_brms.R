formula <- "is_consistent ~ condition * model * test + (1 | item)"

short <- function(data = few_trials(), ..., chains = 2, iterations = 200, warmup = 100) {
  fit_brms(data, formula, chains = chains, iterations = iterations, warmup = warmup, ...)
}

fitted <- new.env()
usual <- function() {
  if (is.null(fitted$usual)) fitted$usual <- short(cores = 2)
  fitted$usual
}

test_that("a fit has the tables of all engines, with credible intervals, and one that is doubtful says so", {
  skip_without_stan()
  fit <- usual()
  expect_named(fit, c("estimates", "fits", "variances", "messages", "models", "tables", "versions"))
  expect_s3_class(fit$models$all, "brmsfit")
  expect_equal(fit$estimates$term[c(1, 2, 6, 13)], c(
    "intercept", "conditionincongruent", "conditionincongruent:modelgemini-2.5-pro", "sd_item"
  ))
  expect_true(all(fit$estimates$conf_low < fit$estimates$estimate & fit$estimates$estimate < fit$estimates$conf_high))
  expect_true(all(is.na(fit$estimates$p_value)))
  expect_equal(unlist(fit$variances[c("group", "n_groups")]), c(group = "item", n_groups = "24"))
  expect_equal(fit$fits$n + fit$fits$n_missing, nrow(few_trials()))
  expect_named(fit$tables, c("model", "predictions", "contrasts", "checks", "loo"))
  expect_equal(vapply(fit$tables, nrow, 1L), c(model = 1L, predictions = 24L, contrasts = 24L, checks = 14L, loo = 1L))
  expect_equal(fit$fits$status, "warned")
  expect_false(fit$tables$model$is_converged)
  expect_match(fit$tables$model$verdict, "^Doubtful[.] .*effective sample size.*limit 400")
  expect_match(fit$messages$text[fit$messages$kind == "warning"], "effective sample size", all = FALSE)
})

test_in_full("draws depend on the seed, not on the number of cores", {
  skip_without_stan()
  one <- short(cores = 1)
  two <- usual()
  expect_identical(one$estimates, two$estimates)
  expect_identical(one$tables[-1], two$tables[-1])
  expect_false(identical(short(seed = 2, chains = 1)$estimates$estimate, one$estimates$estimate))
})

test_that("fewer iterations have less warm-up, unless it is given", {
  expect_equal(eval(formals(fit_brms)$warmup, list(iterations = 4000)), 1500) # as in the interference paper
  rows <- data.frame(y = c(0, 1, 1, 0), x = c(1, 2, 3, 4))
  expect_error(fit_brms(rows, "y ~ x", iterations = 800, warmup = 1500), "would all be warm-up")
  expect_error(fit_brms(rows, "y ~ x", iterations = 800, adapt_delta = 2), "adapt_delta must be between")
})

test_that("chains that are worth more than independent draws are nothing to warn of", {
  skip_without_brms()
  swinging <- withr::with_seed(1, as.numeric(stats::filter(stats::rnorm(2000), -.97, "recursive")))
  draws <- posterior::as_draws_array(array(swinging, c(1000, 2, 1), list(NULL, NULL, "b")))
  expect_warning(posterior::summarise_draws(draws, "ess_bulk"), "capped")
  expect_no_warning(chain_summary(draws))
})

test_in_full("how tokens were counted is nothing to warn of in a choice", {
  skip_without_stan()
  counted_otherwise <- few_trials()
  counted_otherwise$token_source <- rep(c("usage", "output"), length.out = nrow(counted_otherwise))
  expect_no_match(said_by(short_fit(counted_otherwise)), "token_source")
})

test_that("each doubt has its sentence, and none is none", {
  good <- data.frame(
    chains = 4, n_draws = 10000, max_rhat = 1.002, min_ess_bulk = 3000, min_ess_tail = 2500.7, n_divergent = 0,
    n_max_treedepth = 0, min_ebfmi = .9
  )
  expect_null(convergence_warnings(good))
  expect_snapshot(cat(convergence_verdict(good, convergence_warnings(good))))
  bad <- transform(
    good,
    max_rhat = 1.3, min_ess_bulk = 5, min_ess_tail = 9, n_divergent = 12, n_max_treedepth = 3, min_ebfmi = .1
  )
  expect_snapshot(cat(convergence_warnings(bad), sep = "\n"))
  expect_length(convergence_warnings(transform(good, max_rhat = NA)), 1)
  about_loo <- loo_warnings(data.frame(n_bad_pareto_k = 2, max_pareto_k = .812))
  expect_match(convergence_verdict(good, NULL, about_loo), "chains converged.*unreliable for 2 answers.*up to 0.81")
})

test_in_full("priors go over as data: halved and doubled need no compiling, and change the numbers", {
  skip_without_stan()
  wide <- short(priors = list(b = "normal(0, 2)", sd = "exponential(0.5)"))
  narrow <- short(priors = list(b = "normal(0, 0.01)"), iterations = 120, warmup = 60)
  expect_equal(wide$tables$model$priors, "b ~ normal(0, 2); Intercept ~ normal(3, 1.5); sd ~ exponential(0.5)")
  expect_equal(c(wide$tables$model$compile_s, narrow$tables$model$compile_s), c(0, 0))
  spread <- function(fit) max(abs(fit$estimates$estimate[2:12]))
  expect_lt(spread(narrow), .02)
  expect_gt(spread(wide), .3)
})

test_in_full("sum coding changes what a coefficient means", {
  skip_without_stan()
  fit <- short(coding = "sum", iterations = 120, warmup = 60)
  expect_equal(fit$estimates$term[1:3], c("intercept", "condition1", "model1"))
  expect_equal(fit$tables$predictions$condition[1:2], c("congruent", "incongruent"))
  expect_match(fit$tables$model$reference, "^none \\(coded to sum to 0\\); first levels: condition = congruent")
  expect_no_match(usual()$tables$model$reference, "none")
})

test_that("groups that are a combination of columns are counted", {
  rows <- data.frame(item = c("a", "a", "b"), condition = c("x", "y", "x"))
  expect_equal(vapply(c("item", "item:condition"), n_combined, 1L, data = rows, USE.NAMES = FALSE), 2:3)
})

test_in_full("of many draws and rows, leave-one-out takes as many draws of each chain", {
  skip_without_stan()
  file <- withr::local_tempfile(fileext = ".rds")
  found <- short_fit(few_trials(), chains = 3, iterations = 400, warmup = 60, cores = 1, save_to = file)
  fit <- readRDS(file)
  used <- row_predictors(fit, max_numbers = 1)
  expect_equal(as.vector(table(used$chain)), rep(167, 3))
  loo <- leave_one_out(used, brms::get_y(fit))
  expect_equal(loo$elpd_loo, found$tables$loo$elpd_loo, tolerance = .05)
})

test_in_full("the brmsfit and the draws are kept, and opened again", {
  skip_without_stan()
  skip_if_not_installed("nanoparquet")
  folder <- withr::local_tempdir()
  files <- file.path(folder, c("f.rds", "f.draws.parquet"))
  fit <- short(save_to = files[[1]], draws_to = files[[2]])
  kept <- readRDS(files[[1]])
  expect_s3_class(kept, "brmsfit")
  draws <- as.data.frame(nanoparquet::read_parquet(files[[2]]))
  expect_equal(names(draws)[1:5], c(".chain", ".iteration", ".draw", "b_Intercept", "b_conditionincongruent"))
  expect_equal(c(nrow(draws), max(draws$.chain), max(draws$.iteration)), c(200, 2, 100))
  expect_equal(mean(draws$b_Intercept), fit$estimates$estimate[[1]])
  expect_equal(unname(fit$tables$model$file_md5), unname(tools::md5sum(files[[1]])))
  expect_equal(unname(brms::fixef(kept)[2, "Estimate"]), fit$estimates$estimate[[2]])
  expect_setequal(list.files(folder), basename(files))
})

test_in_full("a folder that isn't there costs the files, not the numbers", {
  skip_without_stan()
  fit <- short(iterations = 120, warmup = 60, save_to = file.path(withr::local_tempdir(), "gone", "f.rds"))
  expect_equal(fit$tables$model$file, NA_character_)
  expect_match(said_by(fit), "could not be stored")
  expect_gt(nrow(fit$estimates), 0)
})

test_in_full("what is being done is said, with each chain's part", {
  skip_without_stan()
  skip_on_os("windows")
  said <- NULL
  short(say = function(text) said <<- c(said, text))
  expect_match(said, "^Sampling: 100 % \\(chains 1 to 2: 100, 100 %\\)$", all = FALSE)
  expect_equal(said[[length(said)]], "Summing up the draws")
})

test_that("settings that can't be are refused before anything is fitted", {
  rows <- few_trials()
  skip_without_brms()
  expect_error(short(rows, iterations = 100), "would all be warm-up")
  expect_error(short(rows, chains = 0), "`chains` must be a whole number from 1")
  expect_error(short(rows, seed = 1.5), "`seed` must be a whole number")
  expect_error(short(rows, adapt_delta = 1), "adapt_delta must be between 0 and 1")
  expect_error(short(rows, priors = list(b = "evil()")), NA) # says so in its row, as any group that can't be fitted
  expect_match(short(rows, priors = list(b = "evil()"))$fits$error, "none of the distributions")
})

test_that("what would take hours is refused with the time it would take, unless forced", {
  skip_without_brms()
  settings <- c(sampler_settings(4, 4000, 1500, .95, 10, 1, cores = 2), say = progress_writer(NULL))
  expect_error(check_duration(1e6, settings, FALSE), "Won't fit 1,000,000 rows.*of 4000 iterations: about 6 hours")
  expect_message(check_duration(1e6, settings, TRUE), "Fitting 1,000,000 rows")
  expect_message(check_duration(50000, settings, FALSE), "about 19 minutes")
  expect_silent(check_duration(960, settings, FALSE))
})

test_that("chains end with the process that asked for them, also when it is killed", {
  skip_on_os("windows")
  note <- withr::local_tempfile()
  chain <- function(refresh) {
    cat(Sys.getpid(), file = note)
    Sys.sleep(60)
  }
  asking <- parallel::mcparallel(in_processes(list(chain), list(iterations = 1, cores = 1), identity))
  while (!file.exists(note) || file.size(note) == 0) Sys.sleep(.05)
  Sys.sleep(.6)
  pid <- as.integer(readLines(note, warn = FALSE))
  tools::pskill(asking$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(asking, wait = FALSE))
  for (i in 1:100) if (process_is_there(pid)) Sys.sleep(.1)
  expect_false(process_is_there(pid))
})

test_that("a chain whose process is killed fails the fit in a sentence", {
  skip_on_os("windows")
  jobs <- list(function(refresh) tools::pskill(Sys.getpid(), tools::SIGKILL), function(refresh) Sys.sleep(60))
  begun <- Sys.time()
  settings <- list(iterations = 1, cores = 2)
  expect_error(in_processes(jobs, settings, identity), "process of chain 1 ended before its time")
  expect_lt(as.numeric(Sys.time() - begun, units = "secs"), 30)
})
