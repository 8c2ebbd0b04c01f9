test_figure("colours are answer formats where there is one condition, and a model's formats share its line", {
  plot <- plot_stratification(made_indices())
  expect_equal(levels(plot$data$series_shown), c("Direct", "Chain of thought"))
  expect_equal(levels(plot$data$column_shown), unname(index_labels()[c("si", "bgd")]))
  expect_false(anyDuplicated(plot$data[c("column_shown", "height")]) > 0)
  expect_true(all(abs(plot$data$height - plot$data$model_height) < .5))
  top <- plot$data$model_shown[which.max(plot$data$height)]
  expect_equal(as.character(top), "Random")
})

test_figure("a model with one format stands in the middle of its line", {
  rows <- made_indices()
  rows <- rows[!(rows$model == "greedy" & rows$answer_format == "cot"), ]
  cells <- game_cells(rows, index_labels(), "stratification")
  expect_equal(cells$height[cells$model == "greedy"], cells$model_height[cells$model == "greedy"])
})

test_figure("several conditions are the colours, and each format has panels of its own", {
  plot <- plot_stratification(made_indices(variants = c("main", "steer_fair")))
  expect_equal(levels(plot$data$series_shown), c("main", "steer fair"))
  expect_equal(levels(plot$data$row_shown), c("Direct", "Chain of thought"))
  expect_match(gsub("\n", " ", plot$labels$caption), "printed values of \"main\", not collected here", fixed = TRUE)
})

test_figure("a condition may be drawn in two panels, but not twice in one", {
  rows <- made_indices(variants = c("a", "b"), formats = "direct")
  twice <- rbind(transform(rows, panel = "first"), transform(rows, panel = "second"))
  expect_equal(levels(plot_stratification(twice)$data$row_shown), c("first", "second"))
  expect_error(plot_stratification(rbind(rows, rows)), "a cell has more than one row")
})

test_figure("a condition for each panel needs no colour of its own", {
  rows <- made_indices(variants = c("resettlement", "conscription"))
  plot <- plot_stratification(transform(rows, panel = paste("the setting of", variant)))
  expect_match(attr(plot, "alt_text"), "2 conditions (the setting of resettlement, the setting of consc", fixed = TRUE)
  expect_equal(levels(plot$data$row_shown), paste0("the setting of\n", c("resettlement", "conscription")))
  expect_equal(levels(plot$data$series_shown), c("Direct", "Chain of thought"))
})

test_figure("one level of chance is one line and band, several are a short line each", {
  rows <- made_indices(variants = c("main", "resettlement"), formats = "direct")
  one <- plot_stratification(rows)
  expect_equal(sort(layers_of(one, "GeomVline")[[1]]$data$at), sort(c(.275, .296, .84, .56)))
  expect_equal(nrow(layers_of(one, "GeomRect")[[1]]$data), 2)
  expect_length(layers_of(one, "GeomSegment"), 0)
  rows$random_level[rows$variant == "resettlement" & rows$index == "si"] <- .287
  several <- plot_stratification(rows)
  expect_equal(nrow(layers_of(several, "GeomSegment")[[1]]$data), 4)
  expect_equal(sort(layers_of(several, "GeomVline")[[1]]$data$at), sort(c(.296, .84, .56)))
  expect_match(several$labels$caption, "Short upright lines: chance, where it differs")
})

test_figure("a band of chance is drawn where it is that of all cells, not the mean of few games' and many games'", {
  rows <- made_indices(formats = "direct")
  rows[c("human", "human_low", "human_high")] <- NA
  rows <- transform(rows, random_low = random_level - .02, random_high = random_level + .02)
  expect_equal(nrow(layers_of(plot_stratification(rows), "GeomRect")[[1]]$data), 2)
  few <- rows$model == "greedy"
  rows[few, c("random_low", "random_high")] <- rows$random_level[few] + c(-.1, -.1, .1, .1)
  several <- plot_stratification(rows)
  expect_length(layers_of(several, "GeomRect"), 0)
  expect_no_match(several$labels$caption, "Grey")
})

test_figure("an index without a t interval has the bootstrap's, and the caption says so", {
  rows <- made_indices(indices = c("si", "gasi"), formats = "direct")
  is_gasi <- rows$index == "gasi"
  rows[is_gasi, c("conf_low", "conf_high")] <- NA
  rows <- transform(rows, boot_low = estimate - .2, boot_high = estimate + .2)
  plot <- plot_stratification(rows)
  expect_equal(plot$data$low[is_gasi], rows$boot_low[is_gasi])
  expect_equal(plot$data$low[!is_gasi], rows$conf_low[!is_gasi])
  expect_match(plot$labels$caption, "of\\s+GASI: 95 % bootstrap")
})

test_figure("what is not drawn is counted, and what the rows are is said", {
  rows <- transform(made_indices(), n_incomplete = ifelse(model == "greedy", 2, 0))
  rows$estimate[[1]] <- NA
  caption <- gsub("\n", " ", plot_stratification(rows)$labels$caption)
  expect_match(caption, "^Simulated answers: no model was asked. 30 games a cell.")
  expect_match(caption, "not played to their end: 4 games.", fixed = TRUE)
  expect_match(caption, "not known: 1 value.", fixed = TRUE)
  rows$estimate <- NA
  expect_error(plot_stratification(rows), "no row with an estimate")
})

test_figure("the words name the ends, and count what lies above chance and people", {
  said <- attr(plot_stratification(made_indices()), "alt_text")
  expect_match(said, "SI: from 0.20 (Random, Chain of thought) to 1.50 (Greedy, Direct)", fixed = TRUE)
  expect_match(said, "; 2 of 4 with their interval above chance (0.28);", fixed = TRUE)
  expect_match(said, "; 2 of 4 with their interval above people (0.84)", fixed = TRUE)
})

test_figure("indices of one's own rounds go straight into the figure", {
  skip_but_in_full()
  games <- simulate_structured_games(p = c(0, 1), experiments = "bgd", n_games = 5)
  games <- transform(games, model = sprintf("p = %s", p), variant = "structured")
  indices <- game_indices(games, by = c("source", "model", "variant"), n_draws = 20, n_random = 10)
  drawn <- plot_stratification(indices, withr::local_tempfile(fileext = ".png"))
  expect_true(file.exists(drawn$path))
  expect_match(drawn$alt_text, "Mutual information, bits: from")
})

test_looks("stratification", plot_stratification(made_indices()))

test_looks(
  NULL, plot_stratification(made_indices(variants = c("main", "steer_fair"))),
  "the figure of several conditions looks as it did"
)

test_figure("six indices are on two lines of panels, so that their names have room", {
  rows <- made_indices()
  more <- lapply(setdiff(names(index_labels()), unique(rows$index)), function(name) {
    transform(rows[rows$index == "si", ], index = name)
  })
  layout <- ggplot2::ggplot_build(plot_stratification(do.call(rbind, c(list(rows), more))))$layout$layout
  expect_equal(nrow(layout), 6)
  expect_equal(max(layout$COL), 3)
})
