-- recomputed_predictions: what papers print of the kept Bayesian model of validity: predictions, coefficients, sampling.
-- grain: call_id, model, test, condition, quantity
-- design: forced_choice
-- gives: compliance_percent, conf_low, conf_high, sign_of_condition_difference, sigma_item, sigma_item_conf_low,
--        sigma_item_conf_high, log_odds, log_odds_conf_low, log_odds_conf_high, holds_0,
--        least_compliance, reduction_points, max_rhat, n_divergent
-- fits:  brms of is_valid
-- lacks: study
-- note:  of a median item (kind population). Beside predictions the coefficients of models against the reference, and
--        how many points lower they are than it on average. What chains that did not converge say is no number of the
--        model: NULL, with the verdict in `missing`.
CREATE OR REPLACE VIEW recomputed_predictions AS
WITH valid AS (
    SELECT p.*, coalesce(m.model_no, 1e9) AS model_no, k.condition_no
    FROM bayes_predictions p
    LEFT JOIN models m ON m.study = p.study AND m.study_version = p.study_version AND m.model = p.model
    LEFT JOIN conditions k ON k.study = p.study AND k.study_version = p.study_version AND k.condition = p.condition
    WHERE p.kind = 'population' AND p.outcome = 'is_valid'
), of_models AS (
    SELECT call_id, model, min(model_no) AS model_no, favg(estimate) AS mean FROM valid GROUP BY call_id, model
), terms AS (
    SELECT e.call_id, e.term = 'sd_item' AS is_item, replace(e.term, 'model', '') AS model, e.estimate, e.conf_low,
           e.conf_high
    FROM estimates e
    WHERE e.term = 'sd_item' OR (starts_with(e.term, 'model') AND NOT contains(e.term, ':'))
), wide AS (
    SELECT call_id, model, test, condition, 100 * estimate AS compliance_percent,
           100 * conf_low AS conf_low, 100 * conf_high AS conf_high
    FROM valid
    UNION ALL BY NAME
    SELECT call_id, model, test, sign(min_by(estimate, condition_no) - max_by(estimate, condition_no))::DOUBLE
           AS sign_of_condition_difference
    FROM valid
    GROUP BY call_id, model, test
    HAVING count(*) = 2
    UNION ALL BY NAME
    SELECT call_id, min(estimate) AS least_compliance FROM valid GROUP BY call_id
    UNION ALL BY NAME
    SELECT call_id, model, 100 * (first_value(mean) OVER (PARTITION BY call_id ORDER BY model_no) - mean)
           AS reduction_points
    FROM of_models
    UNION ALL BY NAME
    SELECT call_id, estimate AS sigma_item, conf_low AS sigma_item_conf_low, conf_high AS sigma_item_conf_high
    FROM terms WHERE is_item
    UNION ALL BY NAME
    SELECT call_id, model, estimate AS log_odds, conf_low AS log_odds_conf_low, conf_high AS log_odds_conf_high,
           (conf_low < 0 AND conf_high > 0)::INTEGER::DOUBLE AS holds_0
    FROM terms WHERE NOT is_item
    UNION ALL BY NAME
    SELECT call_id, max_rhat, n_divergent::DOUBLE AS n_divergent FROM bayes_diagnostics
), long AS (
    UNPIVOT wide ON COLUMNS(* EXCLUDE (call_id, model, test, condition)) INTO NAME quantity VALUE number
), known AS (
    SELECT l.*, d.source, d.study, d.study_version, d.variant, d.verdict,
           d.is_converged IS NOT true AND l.quantity NOT IN ('max_rhat', 'n_divergent') AS is_void
    FROM long l
    JOIN bayes_diagnostics d ON d.call_id = l.call_id AND d.outcome = 'is_valid'
)
SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed, condition, quantity,
       CASE WHEN NOT is_void THEN number END AS recomputed,
       CASE WHEN is_void THEN 'The fit has not converged, so that this number is not compared. ' || verdict END
           AS missing, call_id
FROM known;
