-- recomputed_effect_sizes: the kept effect sizes (Cohen's d) of each test with their 95 % interval.
-- grain: call_id, quantity
-- design: association
-- gives: d, ci_low, ci_high
-- fits:  effect_size by cell; effect_size by cell (refusals kept)
-- lacks: cell
-- note:  of the study's first fit of that engine by model and test.
CREATE OR REPLACE VIEW recomputed_effect_sizes AS
WITH wide AS (
    SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, f.refusals_removed, f.call_id,
           e.estimate AS d, e.conf_low AS ci_low, e.conf_high AS ci_high
    FROM compared_fits f
    JOIN estimates e ON e.call_id = f.call_id
    WHERE f.engine = 'effect_size' AND f.test IS NOT NULL
)
SELECT source, study, study_version, variant, model, test, refusals_removed, NULL::VARCHAR AS condition, quantity,
       recomputed, NULL::VARCHAR AS missing, call_id
FROM (UNPIVOT wide ON d, ci_low, ci_high INTO NAME quantity VALUE recomputed);
