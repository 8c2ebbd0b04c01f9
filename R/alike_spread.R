# The parts of alike() that are of whole distributions: spread and range, tested by permutations of units between the
# sides. Units keep their answers to all items together.

empty_spread <- function() {
  columns_of(
    "item:text sd_model sd_people variance_ratio ratio_low ratio_high p_ratio wasserstein wasserstein_low",
    "wasserstein_high expected p_wasserstein p_ratio_adjusted p_wasserstein_adjusted"
  )
}

spread_of <- function(parts, alpha, n_draws, seed) {
  found <- resampled(parts, n_draws, seed, function(model, people, values) {
    rbind(
      model = variances_of(model, values), people = variances_of(people, values),
      distance = wasserstein(model, people, values)
    )
  }, function(all) {
    named <- c("ratio", "distance", "model", "people")
    sds <- sqrt(aperm(all[c("model", "people"), , , drop = FALSE], c(2, 3, 1)))
    ratio <- log(all["model", , ] / all["people", , ])
    array(c(ratio, all["distance", , ], sds), c(dim(all)[-1], length(named)), list(NULL, NULL, named))
  })
  low <- function(name) interval_of(found$samples, name, alpha / 2)
  high <- function(name) interval_of(found$samples, name, 1 - alpha / 2)
  # samples of samples are farther apart than what they are drawn from: their interval is moved by as much
  distances <- matrix(found$samples["distance", , ], ncol(found$value))
  farther <- rowMeans(distances, na.rm = TRUE) - found$value["distance", ]
  ratio <- found$value["ratio", ]
  # percentiles of few units hold too seldom: t by the side with fewer of them
  ratios <- matrix(found$samples["ratio", , ], ncol(found$value))
  df <- min(nrow(parts$model), nrow(parts$people)) - 1
  half <- stats::qt(1 - alpha / 2, df) * apply(ratios, 1, stats::sd, na.rm = TRUE)
  half[!is.finite(half) | !is.finite(ratio)] <- NA # of a side that never varies there is no ratio to be unsure of
  p_ratio <- permutation_p(abs(ratio), abs(found$permuted["ratio", , ]))
  p_distance <- permutation_p(found$value["distance", ], found$permuted["distance", , ])
  frame_of(
    item = c(NA, parts$items), sd_model = found$value["model", ], sd_people = found$value["people", ],
    variance_ratio = exp(ratio), ratio_low = exp(ratio - half), ratio_high = exp(ratio + half), p_ratio = p_ratio,
    wasserstein = found$value["distance", ], wasserstein_low = pmax(0, low("distance") - farther),
    wasserstein_high = high("distance") - farther,
    expected = rowMeans(as.matrix(found$permuted["distance", , ])), p_wasserstein = p_distance,
    p_ratio_adjusted = adjusted_over_items(p_ratio), p_wasserstein_adjusted = adjusted_over_items(p_distance)
  )
}

empty_range <- function() {
  columns_of(
    "item:text model_outside share_outside share_low share_high conf_low conf_high expected p_value p_adjusted"
  )
}

range_of <- function(parts, alpha, n_draws, seed) {
  found <- resampled(parts, n_draws, seed, function(model, people, values) {
    n <- colSums(people)
    low <- colSums(people * less_than(values, quantile_of(model, values, .025))) / n
    high <- colSums(people * less_than(-values, -quantile_of(model, values, .975))) / n
    rbind(outside = low + high, low = low, high = high)
  }, function(all) aperm(all, c(2, 3, 1)))
  p_value <- permutation_p(found$value["outside", ], found$permuted["outside", , ])
  outside <- vapply(seq_along(parts$items), function(item) {
    known <- parts$people[!is.na(parts$people[, item]), item]
    if (length(known) < fewest_for_range) {
      return(NA_real_)
    }
    limits <- stats::quantile(known, c(.025, .975), names = FALSE)
    own <- parts$model[!is.na(parts$model[, item]), item]
    mean(own < limits[[1]] | own > limits[[2]])
  }, 1)
  frame_of(
    item = c(NA, parts$items), model_outside = c(if (all(is.na(outside))) NA else mean(outside, na.rm = TRUE), outside),
    share_outside = found$value["outside", ],
    share_low = found$value["low", ],
    share_high = found$value["high", ], conf_low = interval_of(found$samples, "outside", alpha / 2),
    conf_high = interval_of(found$samples, "outside", 1 - alpha / 2),
    expected = rowMeans(as.matrix(found$permuted["outside", , ])), p_value = p_value,
    p_adjusted = adjusted_over_items(p_value)
  )
}

# Of fewer answers the 2.5 % quantiles lie between the outermost two: of six, about two in seven of others are outside.
fewest_for_range <- 40L

# Below, an item's answers are counts: a row for each of its `values` (ascending), a column for each draw of units.

# Which values lie below the limit of each column.
less_than <- function(values, limits) outer(values, limits, `<`)

# The quantile of each column as stats::quantile() has it (type 7); NA of no answer, as where each person answers some
# of the items only.
quantile_of <- function(counts, values, probability) {
  n <- colSums(counts)
  below <- column_cumsums(counts)
  at <- 1 + (n - 1) * probability
  nth <- function(place) values[1 + colSums(below < rep(place, each = nrow(counts)))]
  low <- nth(floor(at))
  ifelse(n == 0, NA, low + (at - floor(at)) * (nth(pmin(floor(at) + 1, n)) - low))
}

# `statistic(model, people, values)` gives a matrix (numbers x draws) of an item. `numbers` takes those of all items
# (an array: numbers x the mean over items and each x draws) to what is wanted, its numbers last. Of the sides as they
# are, of units dealt to the sides at random, and of units drawn again within each side.
resampled <- function(parts, n_draws, seed, statistic, numbers) {
  parts <- with_seed(seed, fewer_units(parts))
  both <- rbind(parts$model, parts$people)
  # A column for the sides as they are, then for each permutation and each sample.
  n_model <- nrow(parts$model)
  n <- nrow(both)
  is_model <- as.integer(seq_len(n) <= n_model)
  drawn <- with_seed(seed, lapply(seq_len(n_draws), function(k) {
    list(
      permuted = sample.int(n), model = sample.int(n_model, replace = TRUE),
      people = n_model + sample.int(n - n_model, replace = TRUE)
    )
  }))
  columns <- function(make) vapply(drawn, make, integer(n))
  dealt <- columns(function(one) is_model[order(one$permuted)])
  times <- list(
    model = cbind(is_model, dealt, columns(function(one) tabulate(one$model, n)), deparse.level = 0),
    people = cbind(1L - is_model, 1L - dealt, columns(function(one) tabulate(one$people, n)), deparse.level = 0)
  )
  of_items <- lapply(seq_len(ncol(both)), function(item) {
    values <- sort(unique(both[, item]))
    code <- match(both[, item], values, nomatch = length(values) + 1)
    counts <- lapply(times, function(side) rowsum(side, code)[seq_along(values), , drop = FALSE])
    statistic(counts$model, counts$people, values)
  })
  each <- array(unlist(of_items), c(dim(of_items[[1]]), length(of_items)), c(dimnames(of_items[[1]])[1], NULL, NULL))
  all <- array(c(rowMeans(each, na.rm = TRUE, dims = 2), each), dim(each) + c(0, 0, 1), dimnames(each))
  found <- aperm(numbers(aperm(all, c(1, 3, 2))), c(3, 1, 2))
  part <- function(draws) found[, , draws, drop = FALSE]
  list(
    value = matrix(part(1), dim(found)[[1]], dimnames = list(dimnames(found)[[1]], NULL)),
    permuted = part(1 + seq_len(n_draws)), samples = part(1 + n_draws + seq_len(n_draws))
  )
}

most_units <- 2000L

# Of many units some, drawn at random: what thousands of permutations say of these, they say of all.
fewer_units <- function(parts) {
  for (side in c("model", "people")) {
    n <- nrow(parts[[side]])
    if (n > most_units) {
      message(sprintf("Spread and range are of %d units of %d, drawn at random.", most_units, n))
      parts[[side]] <- parts[[side]][sort(sample.int(n, most_units)), , drop = FALSE]
    }
  }
  parts
}

# The share of permutations that are as large, the sides as they are among them.
permutation_p <- function(value, permuted) {
  permuted <- matrix(permuted, length(value))
  p <- (1 + rowSums(permuted >= value - 1e-9, na.rm = TRUE)) / (1 + rowSums(!is.na(permuted)))
  ifelse(is.na(value), NA_real_, p)
}

interval_of <- function(samples, name, probability) {
  values <- matrix(samples[name, , ], dim(samples)[[2]])
  apply(values, 1, stats::quantile, probs = probability, na.rm = TRUE, names = FALSE)
}

# The first is that of all items together.
adjusted_over_items <- function(p) c(p[[1]], stats::p.adjust(p[-1], "holm"))

column_cumsums <- function(counts) {
  sums <- matrix(cumsum(counts), nrow(counts))
  sums - rep(sums[nrow(sums), ] - colSums(counts), each = nrow(counts))
}

variances_of <- function(counts, values) {
  n <- colSums(counts)
  centred <- outer(values, colSums(counts * values) / n, `-`)
  variances <- colSums(counts * centred^2) / (n - 1)
  ifelse(n < 2, NA, ifelse(colSums(counts > 0) == 1, 0, variances))
}

# The mean distance between the quantiles of two samples, of which neither need be as long as the other.
wasserstein <- function(model, people, values) {
  shares <- function(counts) column_cumsums(counts) / rep(colSums(counts), each = nrow(counts))
  colSums(abs(shares(model) - shares(people)) * c(diff(values), 0))
}
