# The parts of alike() that are of whole distributions: spread and range, tested by permutations of units between the
# sides. Units keep their answers to all items together.

empty_spread <- function() {
  frame_of(
    item = character(), sd_model = double(), sd_people = double(), variance_ratio = double(), ratio_low = double(),
    ratio_high = double(), p_ratio = double(), wasserstein = double(), wasserstein_low = double(),
    wasserstein_high = double(), expected = double(), p_wasserstein = double(), p_ratio_adjusted = double(),
    p_wasserstein_adjusted = double()
  )
}

spread_of <- function(parts, alpha, n_draws, seed) {
  found <- resampled(parts, n_draws, seed, function(model, people) {
    variances <- c(pooled_column_variances(model), pooled_column_variances(people))
    n <- ncol(model) + 1
    of_items <- vapply(seq_len(n - 1), function(item) wasserstein(model[, item], people[, item]), 1)
    rbind(
      ratio = log(variances[seq_len(n)] / variances[n + seq_len(n)]),
      distance = c(mean(of_items, na.rm = TRUE), of_items),
      model = sqrt(variances[seq_len(n)]), people = sqrt(variances[n + seq_len(n)])
    )
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
  frame_of(
    item = character(), model_outside = double(), share_outside = double(), share_low = double(),
    share_high = double(), conf_low = double(),
    conf_high = double(), expected = double(), p_value = double(), p_adjusted = double()
  )
}

range_of <- function(parts, alpha, n_draws, seed) {
  found <- resampled(parts, n_draws, seed, function(model, people) {
    shares <- vapply(seq_len(ncol(model)), function(item) {
      limits <- central_limits(model[, item])
      own <- people[!is.na(people[, item]), item]
      c(mean(own < limits[[1]]), mean(own > limits[[2]]))
    }, double(2))
    shares <- cbind(rowMeans(shares, na.rm = TRUE), shares)
    rbind(outside = colSums(shares), low = shares[1, ], high = shares[2, ])
  })
  p_value <- permutation_p(found$value["outside", ], found$permuted["outside", , ])
  outside <- vapply(seq_along(parts$items), function(item) {
    known <- parts$people[!is.na(parts$people[, item]), item]
    if (length(known) < fewest_for_range) {
      return(NA_real_)
    }
    limits <- central_limits(known)
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

# The 2.5 % and 97.5 % quantiles as stats::quantile() has them (type 7), which takes ten times as long; NA of no value,
# as where each person answers some of the items only.
central_limits <- function(values) {
  values <- sorted(values)
  if (length(values) == 0) {
    return(c(NA_real_, NA_real_))
  }
  at <- 1 + (length(values) - 1) * c(.025, .975)
  below <- floor(at)
  above <- pmin(below + 1, length(values))
  values[below] + (at - below) * (values[above] - values[below])
}

# `statistic(model, people)` gives a matrix (numbers x all items and each); of the sides as they are, of units dealt to
# the sides at random, and of units drawn again within each side.
resampled <- function(parts, n_draws, seed, statistic) {
  parts <- with_seed(seed, fewer_units(parts))
  both <- rbind(parts$model, parts$people)
  n_model <- nrow(parts$model)
  n <- nrow(both)
  value <- statistic(parts$model, parts$people)
  drawn <- with_seed(seed, lapply(seq_len(n_draws), function(k) {
    list(
      permuted = sample.int(n), model = sample.int(n_model, replace = TRUE),
      people = n_model + sample.int(n - n_model, replace = TRUE)
    )
  }))
  names <- c(dimnames(value)[1], list(NULL, NULL))
  of <- function(make) array(unlist(lapply(drawn, make)), c(dim(value), n_draws), names)
  rows <- function(places) both[places, , drop = FALSE]
  list(
    value = value,
    permuted = of(function(one) {
      statistic(rows(one$permuted[seq_len(n_model)]), rows(one$permuted[-seq_len(n_model)]))
    }),
    samples = of(function(one) statistic(rows(one$model), rows(one$people)))
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

# The mean over items first: what units differ by within items.
pooled_column_variances <- function(values) {
  n <- colSums(!is.na(values))
  centred <- sweep(values, 2, colMeans(values, na.rm = TRUE))
  variances <- ifelse(n < 2, NA, colSums(centred^2, na.rm = TRUE) / (n - 1))
  c(mean(variances, na.rm = TRUE), variances)
}

# As sort() has them, which takes three times as long for few values: resampling sorts tens of thousands of times.
sorted <- function(values) sort.int(values, method = "quick")

# The mean distance between the quantiles of two samples, of which neither need be as long as the other.
wasserstein <- function(x, y) {
  x <- sorted(x)
  y <- sorted(y)
  if (length(x) == length(y)) {
    return(mean(abs(x - y)))
  }
  at <- sorted(c(x, y))
  widths <- diff(at)
  at <- at[-length(at)]
  sum(abs(findInterval(at, x) / length(x) - findInterval(at, y) / length(y)) * widths)
}
