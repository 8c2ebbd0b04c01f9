made_labels <- function() {
  rows <- expand.grid(
    repetition = 1:2, condition = c("congruent", "incongruent"), item = sprintf("word %d", 1:50), model = c("a", "b"),
    stringsAsFactors = FALSE
  )
  rows$test <- "career"
  rows[rows$item != "word 9" | rows$condition == "congruent", ]
}

swapped_units <- function(rows, permuted) unique(paste(rows$model, rows$item)[permuted$condition != rows$condition])

test_that("an item's labels are swapped whole, with its repetitions, or stay", {
  rows <- made_labels()
  permuted <- permute_labels(rows, 1)
  expect_identical(permuted[names(rows) != "condition"], rows[names(rows) != "condition"])
  unit <- paste(rows$model, rows$item)
  share <- tapply(permuted$condition != rows$condition, unit, mean)
  expect_setequal(unique(as.vector(share)), c(0, 1))
  expect_true(all(table(permuted$condition, unit)[, "a word 1"] == 2))
})

test_that("about half of the units are swapped, each model's on their own, and each of them in some permutation", {
  rows <- made_labels()
  swapped <- lapply(1:40, function(number) swapped_units(rows, permute_labels(rows, number)))
  expect_equal(mean(lengths(swapped)) / 100, .5, tolerance = .05)
  expect_length(unique(unlist(swapped)), 100)
  is_in <- function(model) lapply(swapped, function(one) sub("^. ", "", one[startsWith(one, model)]))
  expect_false(any(mapply(setequal, is_in("a"), is_in("b"))))
})

test_that("number 0 is the data, and an item of one condition only has its label drawn, too", {
  rows <- made_labels()
  expect_identical(permute_labels(rows, 0), rows)
  is_lone <- rows$item == "word 9" & rows$model == "a"
  drawn <- vapply(1:40, function(number) unique(permute_labels(rows, number)$condition[is_lone]), "")
  expect_setequal(drawn, c("congruent", "incongruent"))
})

test_that("what is swapped depends on seed and number, on no order of rows and no other random number", {
  rows <- made_labels()
  set.seed(5)
  before <- .Random.seed
  one <- permute_labels(rows, 3, seed = 2)
  expect_identical(.Random.seed, before)
  place <- sample(nrow(rows))
  expect_identical(permute_labels(rows[place, ], 3, seed = 2), one[place, ])
  expect_false(identical(permute_labels(rows, 3, seed = 1)$condition, one$condition))
  expect_false(identical(permute_labels(rows, 4, seed = 2)$condition, one$condition))
})

test_that("permutations of one seed have seeds of their own, which R and Stan take", {
  seeds <- vapply(0:5000, function(number) permutation_seed(7, number), 1L)
  expect_false(anyDuplicated(seeds) > 0)
  expect_true(all(seeds > 0))
  expect_gt(min(abs(diff(seeds))), 1000)
  expect_identical(permutation_seed(1, 0), permutation_seed(1, 0))
  expect_identical(permutation_seed(-3, 2147483645), as.integer(permutation_seed(-3, 2147483645)))
  expect_error(permutation_seed(1, -1), "whole numbers")
  expect_error(permutation_seed(1.5, 1), "whole numbers")
})

test_that("a condition that is missing, or a third one, is reported", {
  rows <- made_labels()
  expect_error(permute_labels(rows[rows$condition == "congruent", ], 1), "exactly two labels")
  expect_error(permute_labels(rows[0, ], 1), "there are no rows, or none")
  rows$condition[[1]] <- NA
  expect_error(permute_labels(rows, 1), "missing ones")
  expect_error(permute_labels(rows[-2], 1), "no column \"condition\"")
})
