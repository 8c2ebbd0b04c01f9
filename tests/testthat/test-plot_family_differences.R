made_differences <- function() {
  rows <- expand.grid(
    test = c("flowers_insects", "age_valence"), model = c("o3-mini", "deepseek-r1"),
    family = c("lognormal", "gaussian", "hurdle_lognormal"), stringsAsFactors = FALSE
  )
  is_base <- rows$family == "lognormal"
  rows$elpd_difference <- ifelse(is_base, 0, c(-200, -30, 40, -2)[seq_len(nrow(rows)) %% 4 + 1])
  rows$se_difference <- ifelse(is_base, 0, 15)
  transform(rows, n = 400, n_bad_pareto_k = ifelse(is_base, 9, 1), source = "imported")
}

test_figure("differences are a trial's, with two standard errors, and the lognormal is 0", {
  rows <- plot_family_differences(made_differences())$data
  expect_setequal(rows$family_shown, c("gaussian", "hurdle lognormal"))
  expect_equal(rows$at, rows$elpd_difference / 400)
  expect_equal(rows$high - rows$low, rep(4 * 15 / 400, 8))
  expect_equal(length(unique(rows$height[rows$model == "o3-mini"])), 4)
})

test_figure("its words say how often a family is better or worse, and what is unreliable", {
  text <- attr(plot_family_differences(made_differences()), "alt_text")
  expect_match(text, "2 tests and 2 models", fixed = TRUE)
  expect_match(text, "gaussian -0.040 (-0.500 to 0.100; better in 1, worse in 1 of 4)", fixed = TRUE)
  expect_match(text, "unreliable for 8 counts", fixed = TRUE)
})

test_figure("nothing to draw, and two fits of one family, are a sentence", {
  rows <- made_differences()
  expect_error(plot_family_differences(rows[rows$family == "lognormal", ]), "no row with a difference to the lognormal")
  expect_error(plot_family_differences(rbind(rows, rows)), "more than one row for a model and test")
})

test_looks("family differences", plot_family_differences(made_differences()))
