# All but what says when, and with which call, it was fitted.
numbers_of <- function(model) {
  numbers <- unclass(model)[c("mu", "sigma", "beta", "vocab", "convergence", "theta", "eta", "invsigma")]
  c(numbers, list(design = model$settings$covariates$X, dim = model$settings$dim))
}

skip_without_compiler <- function() {
  skip_if_not(nzchar(Sys.which("g++")) || nzchar(Sys.which("clang++")), "there is no C++ compiler here")
}

skip_without_stm()

test_in_full("the fast engine gives stm's own numbers, to the bit", {
  skip_without_compiler()
  for (k in 2:6) {
    fast <- fitted_topics(k)$model
    expect_equal(fast$engine, "fast")
    suppressWarnings(own <- fitted_topics(k, engine = "stm")$model)
    expect_equal(own$engine, "stm")
    expect_identical(numbers_of(fast), numbers_of(own))
  }
})

test_that("so it does without covariates, and with long documents", {
  skip_without_compiler()
  own <- fitted_topics(prevalence = NULL, engine = "stm")$model
  expect_identical(numbers_of(fitted_topics(prevalence = NULL)$model), numbers_of(own))
  texts <- published_trials("DeepSeek-R1", "young_old")$thought[1:80]
  prepared <- prepare_topics(texts, data.frame(half = rep(c("a", "b"), 40)), lower_thresh = 5)
  both <- lapply(c("fast", "stm"), function(engine) {
    numbers_of(fit_topics(prepared, k = 8, prevalence = ~half, max_em_its = 4, engine = engine))
  })
  expect_identical(both[[1]], both[[2]])
})

test_that("the number of cores changes no bit", {
  skip_without_compiler()
  on_three <- fitted_topics(n = 1100, cores = 3)$model
  expect_identical(numbers_of(on_three), numbers_of(fitted_topics(n = 1100, cores = 1)$model))
})

test_that("stm itself stays as it is, and each step can be told", {
  before <- getFromNamespace("estep", "stm")
  steps <- integer()
  model <- fitted_topics(max_em_its = 3, say = function(step) steps <<- c(steps, step))$model
  expect_equal(steps, 1:3)
  expect_equal(length(model$convergence$bound), 3)
  expect_identical(getFromNamespace("estep", "stm"), before)
})

test_that("without a compiler stm's own code fits, and a message says so", {
  withr::local_envvar(SLANT_INST = "", R_USER_CACHE_DIR = withr::local_tempdir(), PATH = "")
  forget_native_code()
  expect_message(model <- fitted_topics()$model, "Without compiled code fitting takes about twenty times as long")
  expect_equal(model$engine, "stm")
  forget_native_code()
})

test_that("one topic, one document and fewer words than topics can't be fitted, in sentences", {
  prepared <- talk_to_prepare(40)
  expect_error(fit_topics(prepared, k = 1), "Can't fit one topic")
  expect_error(fit_topics(prepared, k = 30), "Can't fit 30 topics to 40 documents and \\d+ words")
  one <- list(documents = prepared$documents[1], vocab = prepared$vocab, meta = prepared$meta[1, ])
  expect_error(fit_topics(one, k = 2), "to 1 document")
})

test_that("texts without a word give no documents, and fitting them a sentence", {
  empty <- prepare_topics(c("", "the of"), data.frame(model = c("a", "b")), lower_thresh = 0)
  expect_length(empty$documents, 0)
  expect_error(fit_topics(empty, k = 2), "to 0 documents and 0 words")
})
