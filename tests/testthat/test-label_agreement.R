# Labels of two readers from the counts of a printed table: rows are the first reader's.
read_from <- function(counts) {
  counts <- as.table(counts)
  cells <- as.data.frame(counts, stringsAsFactors = FALSE)
  labels <- cells[rep(seq_len(nrow(cells)), cells$Freq), ]
  data.frame(
    reader = rep(c("a", "b"), each = nrow(labels)), trial_id = rep(seq_len(nrow(labels)), 2),
    label = c(labels$Var1, labels$Var2)
  )
}

test_that("kappa is the printed one: Cohen (1968), Fleiss, Cohen and Everitt (1969)", {
  cohen <- label_agreement(read_from(matrix(c(88, 10, 2, 14, 40, 6, 18, 10, 12), 3)))
  expect_equal(c(cohen$observed[[1]], cohen$expected[[1]]), c(.70, .41))
  expect_equal(round(cohen$kappa[[1]], 3), .492)
  fleiss <- label_agreement(read_from(matrix(c(106, 22, 2, 10, 28, 12, 4, 10, 6), 3)))
  expect_equal(round(fleiss$kappa[[1]], 3), .429)
})

test_that("a label's own kappa takes all others as one", {
  counts <- matrix(c(20, 10, 5, 15), 2)
  agreement <- label_agreement(read_from(counts))
  expect_equal(agreement$kappa, c(.4, .4, .4))
  expect_equal(agreement$n_agreed, c(35, 35, 35))
})

test_that("trials of one reader are counted and left out, and a third reader is refused", {
  notes <- data.frame(reader = c("a", "a", "b"), trial_id = c(1, 2, 1), label = "x")
  agreement <- label_agreement(notes)
  expect_equal(agreement[c("n", "n_one_reader", "n_agreed")], data.frame(n = c(1, 1), n_one_reader = 1, n_agreed = 1))
  expect_true(all(is.nan(agreement$kappa)))
  expect_error(label_agreement(notes[1:2, ]), "labels of 1")
})
