# Cells of two models and two answer formats, for figures of indices.
made_indices <- function(variants = "main", formats = c("direct", "cot"), indices = c("si", "bgd")) {
  rows <- expand.grid(
    index = indices, answer_format = formats, model = c("greedy", "random"), variant = variants,
    stringsAsFactors = FALSE
  )
  scale <- ifelse(rows$index == "si", 1, .5)
  rows$estimate <- scale * (ifelse(rows$model == "greedy", 1.5, .3) - .1 * (rows$answer_format == "cot"))
  rows$estimate <- rows$estimate - .05 * (match(rows$variant, variants) - 1)
  transform(
    rows,
    source = "simulated", n_games = 30, conf_low = estimate - .08 * scale, conf_high = estimate + .08 * scale,
    random_level = ifelse(index == "si", .275, .296), random_low = .24, random_high = .32,
    human = ifelse(variant == "main", ifelse(index == "si", .84, .56), NA),
    model_label = c(greedy = "Greedy", random = "Random")[model], model_no = match(model, c("random", "greedy"))
  )
}

# The data of all layers of a plot whose geom has this class.
layers_of <- function(plot, geom) Filter(function(layer) inherits(layer$geom, geom), plot$layers)
