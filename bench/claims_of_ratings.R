# Claims that take many minutes, one function each; bench/truth.R runs them with 100 data sets, and only in `--long`.

long_claims <- list(
  # Simulation-based calibration of ratings of five points by nine judges, two factors: truths from the usual priors.
  calibrated_ratings = function(n) {
    rows <- expand.grid(
      temp = c("cold", "warm"), contact = c("no", "yes"), judge = letters[1:9], bottle = 1:2, stringsAsFactors = FALSE
    )
    rows$rating <- rep_len(1:5, nrow(rows))
    levels <- list(temp = c("cold", "warm"), contact = c("no", "yes"))
    found <- calibrate(rows, "rating ~ temp + contact + (1 | judge)", levels, family = "cumulative", n = n, say = NULL)
    ranked <- found$ranks[!is.na(found$ranks$rank) & found$ranks$quantity != "log_lik", ]
    claim <- "95 % intervals of a Bayesian fit of ratings hold the truth"
    of_quantities <- lapply(split(ranked, factor(ranked$quantity, unique(ranked$quantity))), function(one) {
      held(claim, one$quantity[[1]], one$conf_low <= one$truth & one$truth <= one$conf_high, .93, .97)
    })
    do.call(rbind, c(unname(of_quantities), list(
      printed("ranks of a quantity are uniform (p by Holm above .05)", "all quantities", found$summary$p_adjusted > .05),
      printed("its fits are ok", "chains, divergences", found$ranks$status[!duplicated(found$ranks$number)] == "ok")
    )))
  }
)
