-- The Bayesian models (`analyze --fit brms`): what a fit of the engine brms found beside its coefficients, which are in
-- `estimates`. `fit_id` is that of `fits`. Intervals hold 95 % of the posterior; probabilities lie between 0 and 1.

-- One fit a row: what was fitted (`formula` without the factors that had one level), how it was sampled, how well, and
-- in words what that is worth. `reference` names the levels that the coefficients start from. `file` (the brmsfit) and
-- `draws_file` (Parquet) lie in NAME.duckdb.models beside the database; NULL where they could not be kept.
CREATE TABLE brms_models (
    fit_id TEXT, formula TEXT, n BIGINT, chains INTEGER, iterations INTEGER, warmup INTEGER, adapt_delta DOUBLE,
    max_treedepth INTEGER, seed BIGINT, priors TEXT, reference TEXT,
    n_draws BIGINT, max_rhat DOUBLE, min_ess_bulk DOUBLE, min_ess_tail DOUBLE, n_divergent BIGINT,
    n_max_treedepth BIGINT, min_ebfmi DOUBLE, is_converged BOOLEAN, verdict TEXT, compile_s DOUBLE, sampling_s DOUBLE,
    file TEXT, file_md5 TEXT, file_bytes BIGINT, draws_file TEXT, draws_md5 TEXT, draws_bytes BIGINT
);

-- Predicted probabilities. kind: 'population' (an item of effect 0) or 'item_averaged' (the mean over the items).
CREATE TABLE brms_predictions (
    fit_id TEXT, model TEXT, domain TEXT, block TEXT, kind TEXT, estimate DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- First block minus second. scale: 'delta_p' (a difference of probabilities) or 's' (of log odds). p_positive: the
-- share of draws above 0.
CREATE TABLE brms_contrasts (
    fit_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT, estimate DOUBLE, median DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_positive DOUBLE
);

-- Posterior predictive checks: a statistic of the data, and of data drawn from the model (`predicted`: their mean);
-- p_value is the share of the latter that lies above. model, domain, block NULL: of all rows.
CREATE TABLE brms_checks (
    fit_id TEXT, model TEXT, domain TEXT, block TEXT, statistic TEXT, observed DOUBLE, predicted DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);

-- Leave-one-out cross-validation (PSIS-LOO): expected log predictive density, effective number of parameters, and how
-- many rows have a Pareto k at which the approximation fails.
CREATE TABLE brms_loo (
    fit_id TEXT, elpd_loo DOUBLE, se_elpd_loo DOUBLE, p_loo DOUBLE, se_p_loo DOUBLE, looic DOUBLE, se_looic DOUBLE,
    max_pareto_k DOUBLE, n_bad_pareto_k BIGINT, n_draws BIGINT
);

-- The same predictions and contrasts from a mixed model with a binomial outcome (`analyze --fit lme4`).
CREATE TABLE lme4_predictions (
    fit_id TEXT, model TEXT, domain TEXT, block TEXT, kind TEXT, estimate DOUBLE, std_error DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE lme4_contrasts (
    fit_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT, estimate DOUBLE, std_error DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);
