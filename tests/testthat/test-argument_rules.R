test_that("arguments are taken up to the edge of what they may be, and not beyond it", {
  kinds <- c(
    argument_kinds[c("text", "flag", "number", "positive")],
    list(from_0 = argument_kinds$whole(0L), between = argument_kinds$between(.5, ".95"))
  )
  right <- list(text = "a", flag = FALSE, number = -1, positive = 1e-300, from_0 = 0, between = .95)
  wrong <- list(
    text = list("", NA_character_, c("a", "b"), 1), flag = list(NA, 1, "TRUE"),
    number = list(NA_real_, Inf, "1", 1:2), positive = list(0, -1, Inf, NaN), from_0 = list(-1, .5, 2^31),
    between = list(.5, 1, 0, 95, NA_real_)
  )
  for (name in names(kinds)) {
    expect_true(kinds[[name]]$is_right(right[[name]]), info = name)
    for (value in wrong[[name]]) expect_false(kinds[[name]]$is_right(value), info = paste(name, deparse(value)))
  }
})
