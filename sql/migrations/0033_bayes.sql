-- The Bayesian models (`analyze --fit brms`): what a fit of the engine brms found beside its coefficients, which are in
-- `estimates`. `call_id` is that of `fits`, too. Intervals hold 95 % of the posterior; probabilities lie between 0 and 1.

-- One fit a row: what was fitted (`formula` without the factors that had one level), how it was sampled, how well, and
-- in words what that is worth. `reference` names the levels that the coefficients start from. `file` (the brmsfit) and
-- `draws_file` (Parquet) lie in NAME.duckdb.models beside the database; NULL where they could not be kept.
CREATE TABLE brms_models (
    call_id TEXT, formula TEXT, n BIGINT, chains BIGINT, iterations BIGINT, warmup BIGINT, adapt_delta DOUBLE,
    max_treedepth BIGINT, seed BIGINT, priors TEXT, reference TEXT,
    n_draws BIGINT, max_rhat DOUBLE, min_ess_bulk DOUBLE, min_ess_tail DOUBLE, n_divergent BIGINT,
    n_max_treedepth BIGINT, min_ebfmi DOUBLE, is_converged BOOLEAN, verdict TEXT, compile_s DOUBLE, sampling_s DOUBLE,
    file TEXT, file_md5 TEXT, file_bytes BIGINT, draws_file TEXT, draws_md5 TEXT, draws_bytes BIGINT
);

-- Predicted probabilities. kind: 'population' (an item of effect 0) or 'item_averaged' (the mean over the items).
CREATE TABLE brms_predictions (
    call_id TEXT, model TEXT, test TEXT, condition TEXT, kind TEXT, estimate DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE
);

-- First condition minus second. scale: 'delta_p' (a difference of probabilities) or 's' (of log odds). p_positive: the
-- share of draws above 0.
-- What could have been found: `mde`, the smallest effect (of an index of games: distance from a given value) that is
-- found with a power of 80 % in a two-sided test at 5 %, in units of the estimate. R's minimum_detectable_effect()
-- makes it of the standard error and its degrees of freedom. `std_error` of a contrast: standard deviation of the
-- posterior.
CREATE TABLE brms_contrasts (
    call_id TEXT, model TEXT, test TEXT, kind TEXT, scale TEXT, estimate DOUBLE, median DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE, p_positive DOUBLE, std_error DOUBLE, mde DOUBLE
);

-- Posterior predictive checks: a statistic of the data, and of data drawn from the model (`predicted`: their mean);
-- p_value is the share of the latter that lies above. model, test, condition NULL: of all rows.
CREATE TABLE brms_checks (
    call_id TEXT, model TEXT, test TEXT, condition TEXT, statistic TEXT, observed DOUBLE, predicted DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);

-- Leave-one-out cross-validation (PSIS-LOO): expected log predictive density, effective number of parameters, and how
-- many rows have a Pareto k at which the approximation fails.
CREATE TABLE brms_loo (
    call_id TEXT, elpd_loo DOUBLE, se_elpd_loo DOUBLE, p_loo DOUBLE, se_p_loo DOUBLE, looic DOUBLE, se_looic DOUBLE,
    max_pareto_k DOUBLE, n_bad_pareto_k BIGINT, n_draws BIGINT
);

-- Token counts as Bayesian models see them (`analyze --fit brms` of a study of conditions, R's fit_brms() with a
-- `step`): what a fit of the engine `brms` found of counts beside its other tables. `call_id` is that of `fits`, too.

-- The effect of the condition, one fit a row. `family`: what the counts were taken for, of numbers known to a `step` (in
-- tokens). `ratio`: of medians, the posterior's median with its 95 % interval; `p_above`: the posterior probability that
-- it is above 1. Medians in tokens. `zeros_…`: shares of counts of 0 (0 to 1), observed and predicted (the mean).
-- Of Bayesian ratios of medians: the probability that the effect is smaller than `bound`, in units of `sd_log` (the standard
-- deviation within conditions of the logarithm of counts at the middle of their steps), and the `prior` of the effect.
CREATE TABLE brms_effects (
    call_id TEXT, term TEXT, family TEXT, step DOUBLE, ratio DOUBLE, ratio_low DOUBLE, ratio_high DOUBLE,
    p_above DOUBLE, median_reference DOUBLE, median_other DOUBLE, zeros_reference DOUBLE,
    zeros_reference_predicted DOUBLE, zeros_other DOUBLE, zeros_other_predicted DOUBLE, sd_log DOUBLE, bound DOUBLE,
    p_within_bound DOUBLE, prior TEXT
);

-- Leave-one-out of each count, in the order of the formula's columns, which is the same in all families: `elpd`, the log
-- probability of the count's interval by the model of all others, and Pareto's k of it. Differences of families are made
-- of these, with their standard errors.
CREATE TABLE brms_pointwise (
    call_id TEXT, term_no BIGINT, elpd DOUBLE, pareto_k DOUBLE
);
