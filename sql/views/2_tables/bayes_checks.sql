-- bayes_checks: whether a Bayesian model brings forth data like those it was fitted to.
-- grain: call_id, statistic, model, test, condition
-- order: source, study, study_version, variant, fit, call_id, statistic, model NULLS FIRST, test NULLS FIRST, condition
--        NULLS FIRST
-- note:  posterior predictive checks: `observed` next to the mean and the middle 95 % of data drawn from the model;
--        p_value is the share of draws above it (ties count half). One near 0 or 1 is a misfit. NULL: of all rows.
--        statistic share: of ones; mean, sd: of numbers; zeros, one_step, two_steps: shares of counts of 0, of one and
--        two steps; quantile_10, median, quantile_90: of counts; item_sd: the spread of the items' shares or means.
CREATE OR REPLACE VIEW bayes_checks AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, regexp_extract(m.formula, '^\s*(\w+)\s*~', 1) AS outcome,
       coalesce(c.model, f.model) AS model, coalesce(c.test, f.test) AS test, c.condition, c.statistic,
       c.observed, c.predicted, c.conf_low, c.conf_high, c.p_value, m.is_converged, m.verdict, f.call_id
FROM brms_checks c
JOIN brms_models m ON m.call_id = c.call_id
JOIN fits f ON f.call_id = c.call_id;
