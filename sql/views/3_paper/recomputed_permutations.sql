-- recomputed_permutations: the middle of the null distribution of each cell, from the latest permutations that are kept.
-- grain: source, study, study_version, variant, model, test, quantity
-- design: forced_choice
-- gives: permuted_delta_p
-- note:  of Bayesian fits of consistency, for a median item. Without model and test: of all cells the one farthest from
--        0.
CREATE OR REPLACE VIEW recomputed_permutations AS
WITH latest AS (
    SELECT source, study, study_version, variant, model, test, null_mean
    FROM permutation_tests
    WHERE kind = 'population' AND scale = 'delta_p' AND engine = 'brms' AND formula LIKE 'is_consistent%'
    QUALIFY finished_at = max(finished_at) OVER (PARTITION BY source, study, study_version, variant)
), cells AS (
    SELECT source, study, study_version, variant, model, test, null_mean AS recomputed
    FROM latest
    UNION ALL
    SELECT source, study, study_version, variant, NULL, NULL, max_by(null_mean, abs(null_mean))
    FROM latest
    GROUP BY source, study, study_version, variant
)
SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed,
       NULL::VARCHAR AS condition, 'permuted_delta_p' AS quantity, recomputed, NULL::VARCHAR AS missing
FROM cells
WHERE recomputed IS NOT NULL;
