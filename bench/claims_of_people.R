# Claims about a model compared with people, one function each; bench/truth.R runs them.

# Ratings of 1 to 7 by units who differ (SD .6), of items whose means are those of `means`; `scale`: how far they spread.
rated_by <- function(n, people, means, shift = 0, scale = 1) {
  rows <- expand.grid(unit = seq_len(n), item = seq_along(means))
  own <- stats::rnorm(n, 0, .6)[rows$unit] + stats::rnorm(nrow(rows))
  rows$rating <- pmin(7, pmax(1, round(means[rows$item] + shift + scale * own)))
  cbind(rows, is_people = people)
}

model_and_people <- function(shift = 0, scale = 1, n_model = 40, n_people = 150) {
  means <- stats::rnorm(10, 4, .7)
  rbind(rated_by(n_model, FALSE, means, shift, scale), rated_by(n_people, TRUE, means))
}

# p and intervals of all items together. Differences of means need no draws.
whole_of <- function(rows, bound = .2, n_draws = 199) {
  found <- alike(rows, "rating", n_draws = n_draws, bound = bound)
  list(difference = found$differences[1, ], items = found$differences[found$differences$kind == "item", ],
       spread = found$spread[1, ], range = found$range[1, ])
}

claims_of_people <- list(
  # A model that is drawn from people's own distribution: nothing should be found but by chance.
  drawn_from_people = function(n) {
    found <- with_seed(11, vapply(seq_len(n), function(k) {
      one <- whole_of(model_and_people())
      c(mean = one$difference$p_value, any_item = min(one$items$p_adjusted), ratio = one$spread$p_ratio,
        distance = one$spread$p_wasserstein, range = one$range$p_value,
        holds = one$spread$ratio_low <= 1 && 1 <= one$spread$ratio_high)
    }, double(6)))
    name <- "40 answers of a model drawn as 150 people's, 10 ratings"
    claim <- "a model drawn from people comes out as alike"
    alike_by <- function(row) found[row, ] >= .05
    rbind(
      held(claim, paste0(name, ": mean"), alike_by("mean"), .93, .97),
      held(claim, paste0(name, ": no item by Holm"), alike_by("any_item"), .93, 1),
      held(claim, paste0(name, ": variances"), alike_by("ratio"), .93, .97),
      held(claim, paste0(name, ": Wasserstein's distance"), alike_by("distance"), .93, .97),
      held(claim, paste0(name, ": range"), alike_by("range"), .93, .97),
      held("95 % intervals of the ratio of variances hold 1", name, found["holds", ] == 1, .93, .97)
    )
  },
  # Planted: a shift whose power is planned by the normal approximation at the errors there are, and half the spread.
  planted_differences = function(n) {
    shift <- .35
    found <- with_seed(12, vapply(seq_len(n), function(k) {
      one <- whole_of(model_and_people(shift), n_draws = 1)$difference
      error <- one$std_error
      c(found = one$p_value < .05, planned = stats::pnorm(shift / error - stats::qnorm(.975)))
    }, double(2)))
    narrow <- with_seed(13, vapply(seq_len(n), function(k) {
      whole_of(model_and_people(scale = .7))$spread$p_ratio < .05
    }, NA))
    close <- with_seed(14, vapply(seq_len(n), function(k) {
      whole_of(model_and_people(n_model = 150), n_draws = 1)$difference$p_equivalence < .05
    }, NA))
    beyond <- with_seed(15, vapply(seq_len(n), function(k) {
      rows <- model_and_people(n_model = 150)
      limit <- .2 * sqrt(mean(tapply(rows$rating[rows$is_people], rows$item[rows$is_people], stats::var)))
      rows$rating[!rows$is_people] <- rows$rating[!rows$is_people] + limit
      whole_of(rows, n_draws = 1)$difference$p_equivalence < .05
    }, NA))
    planned <- mean(found["planned", ])
    rbind(
      held("a planted shift is found at the planned power", sprintf("shift %.2f, planned %.2f", shift, planned),
           found["found", ] == 1, planned - .04, planned + .04),
      held("a model that varies 30 % less is found", "40 answers, 150 people, 10 ratings", narrow, .9, 1),
      held("equivalence of what is equal is shown", "150 answers, 150 people, bound .2 SD", close, .5, 1),
      held("equivalence is not shown at the bound itself", "150 answers, 150 people, bound .2 SD", beyond, 0, .07)
    )
  }
)
