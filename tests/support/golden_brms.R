# The same model from plain brms, the numbers of its priors in its Stan code, next to ours, and whether they agree:
# Rscript golden_brms.R FOLDER_OF_R. Prints a line a question: NAME TRUE or FALSE.
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[1]], pattern = "\\.R$", full.names = TRUE)) source(file)
options(contrasts = c("contr.treatment", "contr.poly"))
trials <- simulate_forced_choice(n_words = 4, seed = 3)
kept <- tempfile(fileext = ".rds")
ours <- fit_forced_choice(trials, "consistent", chains = 2, iterations = 300, warmup = 150, seed = 7, save_to = kept)
fit <- readRDS(kept)

check_toolchain(compiler_version()) # tells rstan where Boost is
# Sums depend on the order of rows, and chains on their last digits: ours are sorted first.
rows <- in_fixed_order(trials[trials$is_valid, ], "is_consistent ~ block * model * domain + (1 | item)")
rows$y <- as.integer(rows$is_consistent)
rows$block <- factor(rows$block, levels = c("congruent", "incongruent"))
rows$model <- factor(rows$model, levels = unique(rows$model[order(rows$model_no)]))
rows$domain <- factor(rows$domain, levels = c("gender_career", "gender_science"))
plain <- brms::brm(
  y ~ block * model * domain + (1 | item), rows, brms::bernoulli(),
  prior = c(
    brms::prior(normal(0, 1), class = b), brms::prior(normal(3, 1.5), class = Intercept),
    brms::prior(exponential(1), class = sd)
  ),
  chains = 2, iter = 300, warmup = 150, seed = 7, cores = 1, refresh = 0, control = list(adapt_delta = .95)
)

# `block` and `domain` are columns that the simulation has besides `condition` and `test`, by which ours is fitted.
in_older_words <- function(names) gsub("test", "domain", gsub("condition", "block", names))
draws <- function(one) unclass(posterior::as_draws_matrix(one))
same <- function(a, b) isTRUE(all.equal(as.numeric(a), as.numeric(b), tolerance = 1e-10))
cells <- unique(rows[c("model", "domain", "block")])
cells <- cells[order(cells$model, cells$domain, cells$block), ]
loo <- suppressWarnings(brms::loo(plain, cores = 1)$estimates)
answers <- c(
  columns = identical(in_older_words(colnames(draws(fit))), colnames(draws(plain))),
  bits = identical(c(draws(fit)), c(draws(plain))),
  estimates = same(ours$estimates$estimate[1:12], brms::fixef(plain)[, "Estimate"]),
  intervals = same(ours$estimates$conf_high[1:12], brms::fixef(plain)[, "Q97.5"]),
  sd_item = same(ours$estimates$estimate[13], brms::VarCorr(plain)$item$sd[, "Estimate"]),
  predictions = same(
    ours$tables$predictions$estimate[1:12],
    colMeans(brms::posterior_epred(plain, newdata = transform(cells, item = NA), re_formula = NA))
  ),
  rhat = same(ours$tables$model$max_rhat, max(posterior::summarise_draws(plain, "rhat")$rhat)),
  divergences = ours$tables$model$n_divergent == rstan::get_num_divergent(plain$fit),
  loo = same(unlist(ours$tables$loo[c("elpd_loo", "p_loo", "looic")]), loo[, "Estimate"])
)

# Numbers, with the priors that brms takes of itself.
numbers <- expand.grid(pair = letters[1:12], draw = 1:8, model = c("one", "two"), stringsAsFactors = FALSE)
set.seed(3)
numbers$d <- .3 + stats::rnorm(12, 0, .2)[as.integer(factor(numbers$pair))] + stats::rnorm(nrow(numbers), 0, .4)
formula <- "d ~ model + (1 | pair)"
ours <- fit_brms(
  numbers, formula,
  family = "gaussian", chains = 2, iterations = 300, warmup = 150, seed = 7, save_to = kept
)
rows <- in_fixed_order(numbers, formula)
rows$model <- factor(rows$model)
plain <- brms::brm(
  d ~ model + (1 | pair), rows,
  chains = 2, iter = 300, warmup = 150, seed = 7, cores = 1, refresh = 0, control = list(adapt_delta = .95)
)
loo <- suppressWarnings(brms::loo(plain, cores = 1)$estimates)
means <- brms::posterior_epred(plain, newdata = data.frame(model = c("one", "two")), re_formula = NA)
answers <- c(
  answers,
  bits_of_numbers = identical(c(draws(readRDS(kept))), c(draws(plain))),
  estimates_of_numbers = same(ours$estimates$estimate[1:2], brms::fixef(plain)[, "Estimate"]),
  predictions_of_numbers = same(ours$tables$predictions$estimate, colMeans(means)),
  loo_of_numbers = same(unlist(ours$tables$loo[c("elpd_loo", "p_loo", "looic")]), loo[, "Estimate"])
)

# Token counts in steps of 64, censored; chains begin where ours do.
counts <- expand.grid(item = letters[1:8], wording = 1:6, condition = c("one", "two"), stringsAsFactors = FALSE)
set.seed(5)
counts$tokens <- 64 * floor(stats::rlnorm(nrow(counts), log(100) + .4 * (counts$condition == "two"), .5) / 64)
formula <- "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"
ours <- fit_brms(
  counts, formula,
  family = "lognormal", chains = 2, iterations = 300, warmup = 150, seed = 7, save_to = kept
)
rows <- in_fixed_order(counts, formula)
begin <- brms_parts(rows, formula, family = "lognormal", step = 64)$init[[1]]
rows$condition <- factor(rows$condition)
rows$low <- ifelse(rows$tokens == 0, 64, rows$tokens)
rows$upper <- ifelse(rows$tokens == 0, 64, rows$tokens + 64)
rows$side <- ifelse(rows$tokens == 0, "left", "interval")
plain <- brms::brm(
  low | cens(side, upper) ~ condition + (1 + condition || wording) + (1 + condition || item), rows, brms::lognormal(),
  prior = c(
    brms::prior(normal(0, 1), class = b), brms::prior(exponential(2), class = sd),
    brms::prior(exponential(1), class = sigma),
    brms::set_prior(sprintf("normal(%.1f, 2)", log(stats::median(counts$tokens) + 32)), class = "Intercept")
  ),
  chains = 2, iter = 300, warmup = 150, seed = 7, cores = 1, refresh = 0, control = list(adapt_delta = .95),
  init = list(begin, begin)
)
loo <- suppressWarnings(brms::loo(plain, cores = 1)$estimates)
answers <- c(
  answers,
  bits_of_counts = identical(c(draws(readRDS(kept))), c(draws(plain))),
  ratio_of_counts = same(ours$tables$effects$ratio, stats::median(exp(draws(plain)[, "b_conditiontwo"]))),
  loo_of_counts = isTRUE(all.equal(ours$tables$loo$elpd_loo, loo["elpd_loo", "Estimate"], tolerance = 1e-6))
)
# Ratings, with thresholds and a discrimination for each model.
ratings <- expand.grid(
  template = letters[1:10], group = c("a", "b"), model = c("small", "large"), repetition = 1:6, stringsAsFactors = FALSE
)
set.seed(9)
shift <- .8 * (ratings$group == "b") + stats::rnorm(10, 0, .5)[as.integer(factor(ratings$template))]
noise <- stats::rlogis(nrow(ratings)) / ifelse(ratings$model == "large", 2, 1)
ratings$rating <- 1L + findInterval(shift + noise, c(-1.5, -.3, .5, 1.6))
formula <- "rating ~ group + (1 | template)"
ours <- fit_brms(
  ratings, formula,
  levels = list(group = c("a", "b"), model = c("small", "large")), family = "cumulative", thresholds_by = "model",
  disc_by = "model", chains = 2, iterations = 300, warmup = 150, seed = 7, save_to = kept
)
rows <- in_fixed_order(ratings, formula, "model")
rows$group <- factor(rows$group)
rows$model <- factor(rows$model, c("small", "large"))
plain <- brms::brm(
  brms::bf(rating | thres(4, gr = model) ~ group + (1 | template)) + brms::lf(disc ~ 0 + model, cmc = FALSE),
  rows, brms::cumulative(),
  prior = c(
    brms::prior(normal(0, 2.5), class = b), brms::prior(normal(0, 2.5), class = Intercept),
    brms::prior(normal(0, 1), class = b, dpar = disc), brms::prior(exponential(1), class = sd)
  ),
  chains = 2, iter = 300, warmup = 150, seed = 7, cores = 1, refresh = 0, control = list(adapt_delta = .95)
)
loo <- suppressWarnings(brms::loo(plain, cores = 1)$estimates)
cells <- data.frame(group = "a", model = c("small", "large"))
shares <- brms::posterior_epred(plain, newdata = cells, re_formula = NA)
means <- vapply(1:2, function(cell) mean(shares[, cell, ] %*% 1:5), numeric(1))
fixed <- brms::fixef(plain)[, "Estimate"]
answers <- c(
  answers,
  columns_of_ratings = identical(colnames(draws(readRDS(kept))), colnames(draws(plain))),
  bits_of_ratings = identical(c(draws(readRDS(kept))), c(draws(plain))),
  estimates_of_ratings = same(ours$estimates$estimate[1:10], fixed),
  terms_of_ratings = identical(ours$estimates$term[c(1, 5, 9, 10)], c(
    "small: 1|2", "large: 1|2", "groupb", "disc: modellarge"
  )),
  predictions_of_ratings = same(ours$tables$predictions$estimate, means),
  loo_of_ratings = same(unlist(ours$tables$loo[c("elpd_loo", "p_loo", "looic")]), loo[, "Estimate"])
)
cat(sprintf("%s %s\n", names(answers), answers), sep = "")
