-- recomputed_mixed_models: the numbers that papers print of the mixed model of each test.
-- grain: call_id, quantity
-- design: association
-- gives: intercept_estimate, intercept_std_error, condition_estimate, condition_std_error, condition_stars, var_prompt,
--        var_residual, n, loglik, estimate, std_error, df, statistic, p
-- fits:  lme4 by cell; lme4 by cell (refusals kept, where printed)
-- lacks: cell
-- note:  variances, not standard deviations; a star for p < .05, .01 and .001 each. `estimate`, `std_error`, `df`,
--        `statistic` and `p` are the condition's.
CREATE OR REPLACE VIEW recomputed_mixed_models AS
WITH terms AS (
    SELECT call_id,
           max(estimate) FILTER (term = 'intercept') AS intercept_estimate,
           max(std_error) FILTER (term = 'intercept') AS intercept_std_error,
           min_by(estimate, term_no) FILTER (starts_with(term, 'condition')) AS estimate,
           min_by(std_error, term_no) FILTER (starts_with(term, 'condition')) AS std_error,
           min_by(df, term_no) FILTER (starts_with(term, 'condition')) AS df,
           min_by(statistic, term_no) FILTER (starts_with(term, 'condition')) AS statistic,
           min_by(p_value, term_no) FILTER (starts_with(term, 'condition')) AS p
    FROM estimates
    GROUP BY call_id
), parts AS (
    SELECT call_id, max(variance) FILTER ("group" = 'wording') AS var_prompt,
           max(variance) FILTER ("group" = 'residual') AS var_residual
    FROM variances
    GROUP BY call_id
), wide AS (
    SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, f.refusals_removed, f.call_id,
           f.n::DOUBLE AS n, f.log_lik AS loglik, t.* EXCLUDE call_id, t.estimate AS condition_estimate,
           t.std_error AS condition_std_error,
           ((t.p < 0.05)::INTEGER + (t.p < 0.01)::INTEGER + (t.p < 0.001)::INTEGER)::DOUBLE AS condition_stars,
           v.var_prompt, v.var_residual
    FROM compared_fits f
    LEFT JOIN terms t ON t.call_id = f.call_id
    LEFT JOIN parts v ON v.call_id = f.call_id
    WHERE f.engine = 'lme4' AND f.test IS NOT NULL
)
SELECT source, study, study_version, variant, model, test, refusals_removed, NULL::VARCHAR AS condition, quantity,
       recomputed, NULL::VARCHAR AS missing, call_id
FROM (
    UNPIVOT wide ON COLUMNS(* EXCLUDE (source, study, study_version, variant, model, test, refusals_removed, call_id))
    INTO NAME quantity VALUE recomputed
);
