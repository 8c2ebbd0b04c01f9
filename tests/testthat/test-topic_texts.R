# The published way: one alternation of all words, in their order.
cleaned_as_published <- function(texts, words) {
  cleaned <- gsub(paste(tolower(words), collapse = "|"), "", tolower(texts), perl = TRUE)
  trimws(gsub("[[:punct:]]", "", cleaned))
}

test_that("words are deleted inside of words too, then punctuation", {
  expect_equal(topic_texts("The word PERMANENT isn't a flower.", c("per", "flower")), "the word manent isnt a")
  expect_equal(topic_texts("A short-term gain", "short-term"), "a  gain")
})

test_that("where two words fit, the first of the list is deleted", {
  expect_equal(topic_texts("insects", c("insect", "insects")), "s")
  expect_equal(topic_texts("insects", c("insects", "insect")), "")
})

test_that("a tree of letters finds what the published alternation finds, whatever the words", {
  withr::local_seed(5)
  letters <- c("a", "b", "ab", "c")
  for (round in 1:100) {
    words <- unique(replicate(sample(10, 1), paste(sample(letters, sample(4, 1), TRUE), collapse = "")))
    texts <- replicate(10, paste(sample(c(letters, " ", ".", "A", "\u00e9", "\u2192"), 15, TRUE), collapse = ""))
    expect_identical(topic_texts(texts, words), cleaned_as_published(texts, words))
  }
})

test_that("a missing text is an empty one, and no words to delete are no trouble", {
  expect_equal(topic_texts(c(NA, "", "Fair."), character()), c("", "", "fair"))
})

test_that("a word that looks like a regular expression is taken as it is written", {
  expect_equal(topic_texts("a.b a+b axb", c("a.b", "a+b")), "axb")
})

test_that("the authors' texts come out as published", {
  words <- c(readLines(shared_path("data", "rmiat", "stm_removed_words.txt")), "weapon", "instrument")
  texts <- utils::head(published_trials("DeepSeek-R1", "mental_physical")$thought, 60)
  expect_identical(topic_texts(texts, words), cleaned_as_published(texts, words))
})

test_that("the locale decides nothing, and is the same afterwards", {
  texts <- c("\u00c9CLAIR \u2014 na\u00efve.", "\u0130stanbul\u2019s \u201cnames\u201d")
  expected <- topic_texts(texts, "na\u00efve")
  expect_equal(expected[[1]], "\u00e9clair")
  withr::local_locale(LC_CTYPE = "C")
  expect_identical(topic_texts(texts, "na\u00efve"), expected)
  expect_equal(Sys.getlocale("LC_CTYPE"), "C")
})
