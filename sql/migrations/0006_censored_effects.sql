-- Counts as lognormal ones of which only the step is known (`analyze --fit censored`, R's fit_censored()): what a fit of
-- the engine `censored` found beside its coefficients, which are in `estimates`. `call_id` is that of `fits`, too.

-- The effect of the condition, one cell a row. `ratio`: of medians, with its 95 % interval; `step` and medians in tokens;
-- `sd_log`: of the lognormal; `zeros_…`: shares of counts of 0 (0 to 1), observed and as the model predicts them.
CREATE TABLE censored_effects (
    call_id TEXT, term TEXT, ratio DOUBLE, ratio_low DOUBLE, ratio_high DOUBLE, p_value DOUBLE, step DOUBLE,
    sd_log DOUBLE, median_reference DOUBLE, median_other DOUBLE, zeros_reference DOUBLE, zeros_other DOUBLE,
    zeros_reference_predicted DOUBLE, zeros_other_predicted DOUBLE
);

-- Other families of the same counts, each by the probability of every count's interval. `aic_difference`: to the
-- lognormal (above 0: worse); `nats`: of log likelihood a trial more than the lognormal (below 0: worse).
CREATE TABLE censored_families (
    call_id TEXT, term_no BIGINT, family TEXT, n_parameters BIGINT, log_lik DOUBLE, aic DOUBLE, aic_difference DOUBLE,
    nats DOUBLE, is_converged BOOLEAN
);
