-- Models of choice in games (`analyze --fit choice`, `policies`, `learning`; R's fit_choice(), fit_policies() and
-- fit_learning(), whose help says what the columns are). `call_id` is that of `fits`, too. Of candidate policies: how
-- well each predicts games that it has not seen, and whether games replayed with it look like those that were played
-- (`passes`). Of a learner: how it was sampled, what the data say beyond the prior, its replays, and what the indices of
-- games would be with more or less exploration.
CREATE TABLE choice_terms (call_id TEXT, term TEXT, vif DOUBLE, is_penalised BOOLEAN);

CREATE TABLE choice_sets (
    call_id TEXT, n_games BIGINT, n_choices BIGINT, nats DOUBLE, chance_nats DOUBLE, has_separation BOOLEAN
);

CREATE TABLE policies_candidates (
    call_id TEXT, term_no BIGINT, policy TEXT, n_parameters BIGINT, log_lik DOUBLE, nats DOUBLE, bic DOUBLE, elpd DOUBLE,
    se_elpd DOUBLE, elpd_difference DOUBLE, se_difference DOUBLE, is_best BOOLEAN, passes BOOLEAN, verdict TEXT
);

CREATE TABLE policies_checks (
    call_id TEXT, term_no BIGINT, policy TEXT, statistic TEXT, kind TEXT, observed DOUBLE, predicted DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE, p_adjusted DOUBLE, passes BOOLEAN
);

CREATE TABLE learning_learner (
    call_id TEXT, learner TEXT, chains BIGINT, iterations BIGINT, warmup BIGINT, adapt_delta DOUBLE,
    max_treedepth BIGINT, seed BIGINT, n_games BIGINT, n_choices BIGINT, n_draws BIGINT, max_rhat DOUBLE,
    min_ess_bulk DOUBLE, min_ess_tail DOUBLE, n_divergent BIGINT, n_max_treedepth BIGINT, min_ebfmi DOUBLE, nats DOUBLE,
    chance_nats DOUBLE, rate_sharpness_correlation DOUBLE, elpd DOUBLE, se_elpd DOUBLE, compile_s DOUBLE,
    sampling_s DOUBLE, is_converged BOOLEAN, passes BOOLEAN, verdict TEXT
);

CREATE TABLE learning_priors (
    call_id TEXT, term_no BIGINT, term TEXT, prior TEXT, prior_sd DOUBLE, posterior_sd DOUBLE, is_identified BOOLEAN
);

CREATE TABLE learning_checks (
    call_id TEXT, term_no BIGINT, statistic TEXT, kind TEXT, observed DOUBLE, predicted DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE, p_value DOUBLE, p_adjusted DOUBLE, passes BOOLEAN
);

CREATE TABLE learning_counterfactuals (
    call_id TEXT, term_no BIGINT, exploration TEXT, statistic TEXT, predicted DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- How choices settle by round, in games and in their replays (`analyze --fit policies`, `learning`; R's replay_curves()):
-- shares of games as running means over five rounds. `call_id` is that of `fits`, too.
CREATE TABLE policies_curves (
    call_id TEXT, term_no BIGINT, policy TEXT, measure TEXT, round BIGINT, observed DOUBLE, predicted DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE learning_curves (
    call_id TEXT, term_no BIGINT, measure TEXT, round BIGINT, observed DOUBLE, predicted DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE
);
