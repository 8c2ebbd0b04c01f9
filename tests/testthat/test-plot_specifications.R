made_specifications <- function() {
  rows <- expand.grid(
    test = c("flowers_insects", "gender_career"), spec = c("paper", "kept", "item"), model = c("a", "b"),
    stringsAsFactors = FALSE
  )
  rows$estimate <- c(30, 20, 34, 26, 28, 21, 2, -3, 4, 1, 2, -4)
  transform(
    rows,
    spec_no = match(spec, c("paper", "kept", "item")), unit = "tokens", status = "ok", source = "simulated",
    conf_low = estimate - 5, conf_high = estimate + 5,
    choice_rows = ifelse(spec == "paper", "refusals removed", ifelse(spec == "kept", "refusals kept", NA)),
    choice_random = ifelse(spec == "paper", "(1 | wording)", ifelse(spec == "item", "(1 | item)", NA))
  )
}

test_that("specifications stand in the order of their median, the first one is marked", {
  drawn <- specifications_to_draw(made_specifications())
  medians <- vapply(drawn$specs$spec, function(spec) median(drawn$rows$at[drawn$rows$spec == spec]), 1)
  expect_false(is.unsorted(medians))
  expect_equal(drawn$specs$spec[drawn$specs$is_first], "paper")
  expect_equal(drawn$axis, "Difference in tokens")
})

test_that("what a specification does not choose is as in the first one", {
  rows <- made_specifications()
  drawn <- specifications_to_draw(rows)
  dots <- choices_to_draw(rows, drawn)
  chosen <- function(spec) sort(dots$shown[dots$x == which(drawn$specs$spec == spec)])
  expect_equal(chosen("paper"), c("random: (1 | wording)", "rows: refusals removed"))
  expect_equal(chosen("kept"), c("random: (1 | wording)", "rows: refusals kept"))
  expect_equal(chosen("item"), c("random: (1 | item)", "rows: refusals removed"))
})

test_that("units are never mixed on one axis", {
  rows <- made_specifications()
  rows$unit[rows$spec == "item"] <- "ratio"
  expect_error(specifications_to_draw(rows), "in tokens and ratio on one axis")
  rows <- transform(rows, d = estimate / 40, d_low = conf_low / 40, d_high = conf_high / 40)
  drawn <- specifications_to_draw(rows)
  expect_equal(drawn$rows$at, rows$d)
  expect_match(drawn$axis, "standard deviations")
  expect_equal(specifications_to_draw(transform(made_specifications(), unit = "ratio"))$null, 1)
})

test_that("a very wide interval is cut and counted, a failed fit is named", {
  rows <- made_specifications()
  rows$conf_high[[3]] <- 1e9
  rows[4, c("estimate", "conf_low", "conf_high")] <- NA
  drawn <- specifications_to_draw(rows)
  expect_lt(max(drawn$rows$high), 100)
  expect_match(paste(drawn$notes, collapse = " "), "1 interval goes beyond the panel")
  expect_match(paste(drawn$notes, collapse = " "), "nothing could be estimated: 1 row")
  rows$estimate <- NA_real_
  expect_error(specifications_to_draw(rows), "none has an estimate")
})

test_figure("the words say in how many cells all specifications agree", {
  said <- attr(plot_specifications(made_specifications()), "alt_text")
  expect_match(said, "Specification curve of 3 specifications in 4 cells: Difference in tokens. In 4 of them")
  rows <- made_specifications()
  rows[1, c("conf_low", "conf_high")] <- c(-1, 61)
  expect_match(attr(plot_specifications(rows), "alt_text"), "In 3 of them")
})

test_that("rows of two sources in one figure are refused", {
  twice <- rbind(made_specifications(), made_specifications())
  expect_error(specifications_to_draw(twice), "Keep the rows of one source")
})

test_figure("in a journal's column the names of tests and choices are on lines that fit", {
  rows <- transform(made_specifications(), test_label = paste("European/African Americans + Pleasant/Unpleasant", test))
  lines <- strsplit(levels(plot_specifications(rows, width = 3.5)$data$test_shown), "\n", fixed = TRUE)
  expect_true(all(lengths(lines) > 1 & vapply(lines, function(line) max(nchar(line)), 1L) <= 32))
  expect_false(any(grepl("\n", levels(plot_specifications(rows)$data$test_shown), fixed = TRUE)))
})

test_looks("specifications", plot_specifications(made_specifications()), "the figure is drawn as it was")
