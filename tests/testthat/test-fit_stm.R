test_that("with more covariates a contrast is the mean over a model's own documents", {
  trials <- made_talk(n = 60)
  trials <- trials[!(trials$test == "two" & trials$item > 20), ] # unbalanced, so that it matters what is averaged over
  trials$tokens <- trials$tokens + 50 * (trials$test == "two" & trials$condition == "incompatible")
  meta <- covariate_factors(trials[c("condition", "model", "test")], list(condition = conditions))
  whole <- stats::lm(trials$tokens ~ condition * model * test, meta)
  effects <- list(data = meta, formula = ~ condition * model * test)
  for (model in c("a", "b")) {
    own <- trials[trials$model == model, ]
    means <- tapply(own$tokens, list(own$test, own$condition), mean)
    expected <- stats::weighted.mean(means[, "incompatible"] - means[, "compatible"], table(own$test))
    expect_equal(sum(contrast_weights(effects, "condition", conditions, model) * stats::coef(whole)), expected)
  }
})

skip_without_stm()

test_that("a fit is what stm, estimateEffect, summary() and plot() give one after another", {
  trials <- made_talk()
  found <- fit_talk(trials, outcome = NULL)
  processed <- stm::textProcessor(trials$reasoning_text, metadata = trials, verbose = FALSE)
  utils::capture.output(prepared <- stm::prepDocuments(
    processed$documents, processed$vocab, processed$meta,
    lower.thresh = 5, verbose = FALSE
  ))
  model <- stm::stm(
    prepared$documents, prepared$vocab,
    K = 3, prevalence = ~ condition * model * test, data = prepared$meta, max.em.its = 6, seed = 1048596,
    init.type = "Spectral", verbose = FALSE
  )
  expect_equal(found$tables$topics$proportion, colMeans(model$theta), tolerance = 1e-12)
  set.seed(1048596)
  effects <- stm::estimateEffect(1:3 ~ condition * model, model, prepared$meta, uncertainty = "Global")
  set.seed(1048596)
  table <- summary(effects)$tables[[2]]
  expect_equal(found$estimates$estimate[5:8], unname(table[, 1]), tolerance = 1e-9)
  expect_equal(found$estimates$std_error[5:8], unname(table[, 2]), tolerance = 1e-9)
  set.seed(1048596)
  drawn <- plot(effects, "model", method = "pointestimate", omit.plot = TRUE)
  by_model <- subset(found$tables$prevalence, scope == "model" & topic == 2)
  expect_equal(by_model$estimate, unname(drawn$means[[2]]), tolerance = 1e-9)
  expect_equal(by_model$conf_low, unname(drawn$cis[[2]][1, ]), tolerance = 1e-9)
})

test_in_full("the same seed gives the same numbers, another one other intervals, and nobody's own draws are spoilt", {
  first <- fit_talk()
  expect_identical(fit_talk()$tables, first$tables)
  other <- fit_talk(seed = 2)
  expect_identical(other$tables$topics, first$tables$topics)
  expect_false(identical(other$estimates$estimate, first$estimates$estimate))
})

test_that("levels decide the reference, not the order of rows or the locale", {
  trials <- made_talk()
  turned <- fit_stm(trials[rev(seq_len(nrow(trials))), ],
    topics = 3, lower_thresh = 5, max_em_its = 6, levels = list(condition = rev(conditions))
  )
  expect_setequal(sub("topic \\d: ", "", turned$estimates$term), c(
    "intercept", "conditioncompatible", "modelb", "conditioncompatible:modelb"
  ))
})

test_that("examples are whole texts of the answers in which a topic is largest", {
  trials <- made_talk()
  examples <- fit_talk(trials, n_examples = 3)$tables$examples
  expect_equal(examples$place, rep(1:3, 3))
  expect_equal(examples$text, trials$reasoning_text[match(examples$trial_id, trials$trial_id)])
  expect_true(all(diff(examples$proportion[1:3]) <= 0))
})

test_that("a saved model opens again, and what is no model of ours is refused", {
  file <- withr::local_tempfile(fileext = ".rds")
  found <- fit_talk(save_to = file)
  again <- read_topics(file)
  expect_s3_class(again$model, "STM")
  expect_identical(again$tables$topics, found$tables$topics)
  expect_equal(colMeans(read_topics(file, "documents")[, -1]), found$tables$topics$proportion, ignore_attr = TRUE)
  expect_equal(found$tables$model$file_md5, unname(tools::md5sum(file)))
  saveRDS(1, file)
  expect_error(read_topics(file), "holds no topic model of slant")
  expect_error(read_topics("none.duckdb"), "no fitted topic model next to")
})

test_that("a model that other versions made says so when it is opened", {
  file <- withr::local_tempfile(fileext = ".rds")
  fit_talk(save_to = file)
  kept <- readRDS(file)
  kept$versions$version[kept$versions$package == "stm"] <- "0.9"
  saveRDS(kept, file)
  expect_warning(read_topics(file), "other versions than those here: stm 0.9 \\(here")
})

test_that("a model that can't be kept is said, and its numbers are there all the same", {
  found <- fit_talk(save_to = file.path(tempdir(), "no", "such", "folder.rds"))
  expect_match(found$messages$text, "could not be stored", all = FALSE)
  expect_equal(found$fits$status, "ok")
  expect_true(is.na(found$tables$model$file))
})

test_that("what can't be fitted is said in a sentence", {
  trials <- made_talk()
  expect_snapshot({
    write_error(fit_stm(trials, topics = 1))
    write_error(fit_stm(trials, topics = "many"))
    write_error(fit_stm(trials, effects = "tokens ~ condition"))
    write_error(fit_stm(trials, effects = "~ model"))
    write_error(fit_stm(trials, formula = "~ system('ls')"))
    write_error(fit_stm(trials, text = "thoughts"))
  })
  why <- function(trials, ...) fit_stm(trials, ...)$fits$error
  expect_snapshot({
    cat(why(trials))
    cat(why(transform(trials, reasoning_text = "1, 2, 3!"), lower_thresh = 5))
    cat(why(transform(trials, model = "a"), lower_thresh = 5))
    cat(why(trials, lower_thresh = 150))
    cat(why(trials, lower_thresh = 5, levels = list(test = c("one", "three"))))
    cat(why(trials, lower_thresh = 5, topics = 60))
  })
})

test_that("three conditions are refused before anything is fitted", {
  trials <- made_talk()
  trials$condition[1:20] <- "neutral"
  for (outcome in list("tokens", NULL)) {
    said <- character()
    note <- function(text) said <<- c(said, text)
    found <- fit_stm(trials, lower_thresh = 5, topics = 3, outcome = outcome, say = note)
    expect_match(found$fits$error, "condition")
    expect_false(any(grepl("Fitting", said)))
  }
  expect_match(found$fits$error, 'Can\'t contrast "condition": it has 3 values')
})

test_in_full("no topic function touches the session's random numbers, or depends on its generator", {
  prepared <- talk_to_prepare(80)
  trials <- made_talk()
  each <- list(
    function() suppressWarnings(fit_topics(prepared, k = 2, max_em_its = 2)$theta),
    function() suppressWarnings(search_topics(prepared, 2, ~condition, max_em_its = 2)),
    function() fit_talk(trials)$estimates
  )
  for (compute in each) {
    withr::local_seed(3)
    before <- globalenv()[[".Random.seed"]]
    expected <- compute()
    expect_identical(globalenv()[[".Random.seed"]], before)
    withr::with_seed(3, .rng_kind = "Wichmann-Hill", expect_identical(compute(), expected))
  }
  model <- suppressWarnings(fit_topics(prepared, k = 2, prevalence = ~condition, max_em_its = 2))
  rm(".Random.seed", envir = globalenv())
  topic_effects(model, prepared$meta, ~condition, n_draws = 1)
  expect_false(exists(".Random.seed", envir = globalenv(), inherits = FALSE))
})

test_that("next to a database only the model is opened that it was told of", {
  skip_if_not_installed("duckdb")
  folder <- withr::local_tempdir()
  db <- file.path(folder, "a.duckdb")
  dir.create(paste0(db, ".models"))
  file <- file.path(paste0(db, ".models"), "0a1b.rds")
  about <- fit_talk(save_to = file)$tables$model
  connection <- DBI::dbConnect(duckdb::duckdb(dbdir = db, shared_home = FALSE))
  DBI::dbWriteTable(connection, "stm_models", about[c("file", "file_md5")])
  DBI::dbDisconnect(connection, shutdown = TRUE)
  expect_s3_class(read_topics(db), "slant_topics")
  saveRDS(readRDS(file), file, compress = FALSE)
  expect_error(read_topics(db), "is not the model that this database recorded")
  expect_error(read_topics(file), "is not the model that this database recorded")
})
