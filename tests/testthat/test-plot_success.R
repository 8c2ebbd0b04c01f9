made_success <- function() {
  variants <- c("hidden_mapping", "hidden_mapping_bonus")
  games <- expand.grid(game = 1:10, model = c("greedy", "random"), variant = variants)
  of_model <- ifelse(games$model == "greedy", .7, .3)
  transform(
    games,
    model = as.character(model), variant = as.character(variant), source = "simulated", answer_format = "direct",
    success_rate = of_model + .01 * game - .05 * (variant == "hidden_mapping_bonus"), random_level = .3, best_level = .9
  )
}

test_that("means and intervals are those of t over games", {
  rates <- success_rates(made_success())
  of <- with(made_success(), success_rate[model == "greedy" & variant == "hidden_mapping"])
  expected <- stats::t.test(100 * of)
  cell <- rates[rates$model == "greedy" & rates$variant == "hidden_mapping", ]
  expect_equal(c(cell$estimate, cell$conf_low, cell$conf_high), c(unname(expected$estimate), expected$conf.int[1:2]))
  expect_equal(rates$n_games, rep(10L, 4))
  expect_true(is.na(success_rates(made_success()[1, ])$conf_low))
})

test_figure("lines stand where random choices and perfect ones are expected", {
  plot <- plot_success(made_success())
  lines <- layers_of(plot, "GeomVline")
  expect_equal(lines[[1]]$data$at, 30)
  expect_equal(lines[[2]]$data$best_level, .9)
  expect_match(attr(plot, "alt_text"), "Successful rounds (%) for 2 models, 2 conditions", fixed = TRUE)
  expect_error(plot_success(transform(made_success(), success_rate = NA)), "no game with a success rate")
  # as an R user gets them from a file without this variant: no rows at all
  expect_error(plot_success(made_success()[0, ]), "no game with a success rate")
  expect_error(plot_success(made_success()[0, c("model", "variant", "success_rate")]), "no game with a success rate")
  rows <- data.frame(model = character(), variant = character(), index = character(), estimate = numeric())
  expect_error(plot_stratification(rows), "no row with an estimate")
})

test_that("columns that are absent are filled, in rows and in none", {
  rows <- data.frame(a = 1:2)
  expect_identical(with_absent(rows, c("a", "b"), NA_real_), data.frame(a = 1:2, b = c(NA_real_, NA_real_)))
  expect_identical(with_absent(rows[0, , drop = FALSE], "b", "x"), data.frame(a = integer(), b = character()))
  expect_identical(with_absent(rows, "a", 0), rows)
})

test_looks("success", plot_success(made_success()))
