# Both routes, which must not differ in any bit.
expect_same_routes <- function(texts, lower_thresh, meta = data.frame(place = seq_along(texts))) {
  by_word <- prepare_topics(texts, meta, lower_thresh = lower_thresh)
  expect_identical(by_word, prepare_topics(texts, meta, "tm", lower_thresh = lower_thresh))
  by_word
}

skip_without_stm()

test_that("a document holds the stems of its words, and how often", {
  found <- prepare_topics(
    c("names name groups", "naming the groups", "1, 2, of it"), data.frame(model = c("a", "b", "c")),
    lower_thresh = 0
  )
  expect_equal(found$vocab, c("group", "name"))
  expect_equal(found$documents, list("1" = rbind(1:2, 1:2), "2" = rbind(1:2, c(1L, 1L))))
  expect_equal(found$meta, data.frame(model = c("a", "b")))
})

test_that("words are as textProcessor() and prepDocuments() leave them, however odd the text", {
  withr::local_seed(4)
  pieces <- c(
    "don't", "Self-Evident", "a--b", "x-1-y", "re\u2019s", "caf\u00e9", "\u00a0", "\t", "\n", "can't.stop", "I'm",
    "the", "naming", "named", "NA", "1st", "\u4e2d\u6587\u5b57\u7b26", "e\u0301t\u00e9", "\u200bzero", "a.b.c",
    "\U1F600", "\u2028", "over-the-top", "--", "\u0130stanbul", "_under_score_", "semi;colon", "\\back", "\"q\"", "<b>"
  )
  texts <- replicate(60, paste(sample(pieces, 25, TRUE), collapse = sample(c(" ", ""), 1, prob = c(.9, .1))))
  expect_gt(length(expect_same_routes(texts, 2)$vocab), 10)
})

test_that("the authors' texts, cleaned or not, are prepared alike", {
  texts <- utils::head(published_trials("Claude3.7", "young_old")$thought, 150)
  cleaned <- topic_texts(texts, c("young", "old", "per"))
  expect_gt(length(expect_same_routes(texts, 3)$vocab), 50)
  expect_gt(length(expect_same_routes(c(cleaned, "", "the of"), 20)$vocab), 10)
})

test_that("the order of words is the same in every locale", {
  texts <- rep(c("zebra Apple \u00e9clair", "apple zebra \u00e9clair"), 2)
  expect_equal(expect_same_routes(texts, 1)$vocab, c("appl", "zebra", "\u00e9clair"))
  before <- Sys.getlocale("LC_COLLATE")
  prepare_topics(texts, data.frame(place = 1:4), lower_thresh = 1)
  expect_equal(Sys.getlocale("LC_COLLATE"), before)
})

test_that("as many rows of covariates as texts are asked for", {
  expect_error(prepare_topics(c("one", "two"), data.frame(model = "a")), "there are 2 texts, but 1 rows")
})

test_that("words are the same in a locale without UTF-8, which is the same afterwards", {
  texts <- rep(c("\u00c9CLAIR names\u2014naming", "\u00e9clair \u201cgroups\u201d caf\u00e9s"), 3)
  meta <- data.frame(place = 1:6)
  expected <- prepare_topics(texts, meta, lower_thresh = 1)
  withr::local_locale(LC_CTYPE = "C")
  for (way in c("fast", "tm")) expect_identical(prepare_topics(texts, meta, way, lower_thresh = 1), expected)
  expect_equal(Sys.getlocale("LC_CTYPE"), "C")
})

test_that("texts that leave no word are counted in one message, by both routes", {
  texts <- c("names name", "naming names", "", "1, 2, of it", "rare")
  for (way in c("fast", "tm")) {
    expect_message(
      expect_no_warning(found <- prepare_topics(texts, data.frame(place = 1:5), way, lower_thresh = 1)),
      "^3 texts without any word left after cleaning left out.\n$"
    )
    expect_length(found$documents, 2)
  }
  expect_no_message(prepare_topics(texts[1:2], data.frame(place = 1:2), lower_thresh = 1))
})
