-- The Bayesian models (`analyze --fit brms`): what a fit of the engine brms found beside its coefficients, which are in
-- `estimates`. `fit_id` is that of `fits`. Intervals hold 95 % of the posterior; probabilities lie between 0 and 1.

-- One fit a row: how it was sampled, how well, and in words what that is worth. `reference` names the levels that the
-- coefficients start from, `dropped` the factors of which the rows had one level only. `file` (the model, for R) and
-- `draws_file` (Parquet) lie in NAME.duckdb.models beside the database; NULL where they could not be kept.
CREATE TABLE brms_models (
    fit_id TEXT, outcome TEXT, reference TEXT, dropped TEXT, priors TEXT,
    n_chains INTEGER, n_iterations INTEGER, n_warmup INTEGER, n_draws BIGINT, adapt_delta DOUBLE, seed BIGINT,
    rhat_max DOUBLE, ess_bulk_min DOUBLE, ess_tail_min DOUBLE, n_divergent BIGINT, n_max_treedepth BIGINT,
    ebfmi_min DOUBLE, is_converged BOOLEAN, verdict TEXT, sampling_s DOUBLE,
    file TEXT, file_md5 TEXT, file_bytes BIGINT, draws_file TEXT, draws_md5 TEXT, draws_bytes BIGINT
);

-- One row of `estimates` a row: the median, and how well its posterior was sampled.
CREATE TABLE brms_parameters (
    fit_id TEXT, term TEXT, median DOUBLE, rhat DOUBLE, ess_bulk DOUBLE, ess_tail DOUBLE
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

-- Posterior predictive checks: a statistic of the data, and of data drawn from the model; p_value is the share of the
-- latter that is at least as large. model, domain, block NULL: of all rows.
CREATE TABLE brms_checks (
    fit_id TEXT, statistic TEXT, model TEXT, domain TEXT, block TEXT, observed DOUBLE, estimate DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);

-- Leave-one-out cross-validation (PSIS-LOO): expected log predictive density, effective number of parameters, and how
-- many rows have a Pareto k at which the approximation fails.
CREATE TABLE brms_loo (
    fit_id TEXT, elpd_loo DOUBLE, elpd_loo_se DOUBLE, p_loo DOUBLE, p_loo_se DOUBLE, looic DOUBLE, looic_se DOUBLE,
    n_high_pareto_k BIGINT, pareto_k_max DOUBLE
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
