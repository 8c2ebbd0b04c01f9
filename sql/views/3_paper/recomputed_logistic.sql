-- recomputed_logistic: the numbers that papers print of logistic regressions on one predictor.
-- grain: call_id, quantity
-- design: decision
-- gives: n, loglik, aic, bic, loglik_null, pseudo_r2, lr_p, intercept_estimate, intercept_std_error, intercept_statistic,
--        intercept_p, intercept_conf_low, intercept_conf_high, estimate, std_error, statistic, p, conf_low, conf_high,
--        odds_ratio
-- fits:  every logistic by model
-- note:  the variants of a study are of one print: a number is of the unchanged study, or of the first variant that
--        has it. `condition` is the predictor. Coefficients are in log odds, `odds_ratio` is exp(estimate).
CREATE OR REPLACE VIEW recomputed_logistic AS
WITH of_rows AS ( -- errors as printed, of independent rows, where those shown are over clusters
    SELECT e.call_id, e.term, e.estimate, coalesce(c.std_error_rows, e.std_error) AS std_error,
           coalesce(c.statistic_rows, e.statistic) AS statistic, coalesce(c.p_value_rows, e.p_value) AS p_value,
           coalesce(c.conf_low_rows, e.conf_low) AS conf_low, coalesce(c.conf_high_rows, e.conf_high) AS conf_high
    FROM estimates e
    LEFT JOIN logistic_clustered c USING (call_id, term)
), terms AS (
    SELECT i.estimate AS intercept_estimate, i.std_error AS intercept_std_error, i.statistic AS intercept_statistic,
           i.p_value AS intercept_p, i.conf_low AS intercept_conf_low, i.conf_high AS intercept_conf_high,
           e.call_id, e.term AS condition, e.estimate, e.std_error, e.statistic, e.p_value AS p, e.conf_low, e.conf_high,
           exp(e.estimate) AS odds_ratio
    FROM of_rows e
    JOIN of_rows i ON i.call_id = e.call_id AND i.term = 'intercept'
    WHERE e.term <> 'intercept'
    QUALIFY count(*) OVER (PARTITION BY e.call_id) = 1 -- one predictor
), wide AS (
    SELECT f.source, f.study, f.study_version, f.variant, f.model, f.call_id, t.* EXCLUDE call_id,
           f.n::DOUBLE AS n, f.log_lik AS loglik, f.aic, f.bic, l.null_log_lik AS loglik_null,
           l.pseudo_r_squared AS pseudo_r2, coalesce(l.p_value_rows, l.p_value) AS lr_p
    FROM compared_fits f
    JOIN terms t ON t.call_id = f.call_id
    LEFT JOIN logistic_tests l ON l.call_id = f.call_id
    WHERE f.engine = 'logistic' AND f.test IS NULL
), long AS (
    SELECT *
    FROM (
        UNPIVOT wide ON COLUMNS(* EXCLUDE (source, study, study_version, variant, model, call_id, condition))
        INTO NAME quantity VALUE recomputed
    )
), usual AS (
    SELECT DISTINCT study, usual_variant FROM planned_cells
)
SELECT l.source, l.study, l.study_version, coalesce(u.usual_variant, l.variant) AS variant, l.model, NULL::VARCHAR AS test,
       NULL::BOOLEAN AS refusals_removed, l.condition, l.quantity, l.recomputed,
       a.absent AS missing, l.call_id
FROM long l
LEFT JOIN usual u USING (study)
LEFT JOIN decision_absent_tests a USING (source, study, study_version, variant, model)
QUALIFY row_number() OVER (
    PARTITION BY l.source, l.study, l.study_version, l.model, l.condition, l.quantity
    ORDER BY l.variant <> u.usual_variant, l.variant
) = 1;
