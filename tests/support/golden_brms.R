# The same model from plain brms, the numbers of its priors in its Stan code, beside ours, and whether they agree:
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

draws <- function(one) unclass(posterior::as_draws_matrix(one))
same <- function(a, b) isTRUE(all.equal(as.numeric(a), as.numeric(b), tolerance = 1e-10))
cells <- unique(rows[c("model", "domain", "block")])
cells <- cells[order(cells$model, cells$domain, cells$block), ]
loo <- suppressWarnings(brms::loo(plain, cores = 1)$estimates)
answers <- c(
  columns = identical(colnames(draws(fit)), colnames(draws(plain))),
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
cat(sprintf("%s %s\n", names(answers), answers), sep = "")
