-- recomputed_signs: what a positive term of the condition means in the mixed models of a model.
-- grain: source, study, study_version, variant, model, refusals_removed, quantity
-- design: association
-- gives: sign_of_condition
-- fits:  lme4 by cell; effect_size by cell; lme4 by cell (refusals kept, where printed);
--        effect_size by cell (refusals kept)
-- lacks: cell
-- note:  1 if in every test with p < .05 it goes with a positive d (more tokens in the second condition), else -1.
CREATE OR REPLACE VIEW recomputed_signs AS
SELECT m.source, m.study, m.study_version, m.variant, m.model, NULL::VARCHAR AS test, m.refusals_removed,
       NULL::VARCHAR AS condition, 'sign_of_condition' AS quantity,
       CASE WHEN bool_and((d.recomputed > 0) = (m.recomputed > 0)) THEN 1.0::DOUBLE ELSE -1.0::DOUBLE END AS recomputed,
       NULL::VARCHAR AS missing
FROM recomputed_mixed_models m
JOIN recomputed_effect_sizes d USING (source, study, study_version, variant, model, test, refusals_removed)
JOIN recomputed_mixed_models p ON p.call_id = m.call_id AND p.quantity = 'p' AND p.recomputed < 0.05
WHERE m.quantity = 'estimate' AND d.quantity = 'd'
GROUP BY m.source, m.study, m.study_version, m.variant, m.model, m.refusals_removed;
