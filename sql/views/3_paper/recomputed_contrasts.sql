-- recomputed_contrasts: how much more probable consistency is in the first condition, of the kept Bayesian model.
-- grain: call_id, model, test, quantity
-- design: forced_choice
-- gives: delta_p, conf_low, conf_high, p_positive
-- fits:  brms of is_consistent
-- lacks: study
-- note:  of a median item (kind population). What chains that did not converge say is no number of the model: NULL,
--        with the verdict in `missing`.
CREATE OR REPLACE VIEW recomputed_contrasts AS
WITH wide AS (
    SELECT source, study, study_version, variant, model, test, is_converged IS NOT true AS is_void, verdict,
           estimate AS delta_p, conf_low, conf_high, p_positive, call_id
    FROM bayes_contrasts
    WHERE kind = 'population' AND scale = 'delta_p' AND outcome = 'is_consistent'
)
SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed,
       NULL::VARCHAR AS condition, quantity, CASE WHEN NOT is_void THEN number END AS recomputed,
       CASE WHEN is_void THEN 'The fit has not converged, so that this number is not compared. ' || verdict END
           AS missing, call_id
FROM (UNPIVOT wide ON delta_p, conf_low, conf_high, p_positive INTO NAME quantity VALUE number);
