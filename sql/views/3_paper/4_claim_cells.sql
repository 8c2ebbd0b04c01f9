-- claim_cells: what is counted and fitted of each model and test that the text of a paper speaks of.
-- grain: source, study, study_version, variant, model, test
-- design: association
-- note:  only the paper's own models (its scope "all"). `b` and `p` are of the mixed model, `d_…` with the refusals
--        removed and kept; `welch_…` is of the model, the same in all of its tests. `needs_more`: significantly more
--        tokens in the second condition; of N models this is so in this test.
CREATE OR REPLACE VIEW claim_cells AS
WITH mixed AS (
    SELECT source, study, study_version, variant, model, test, max(recomputed) FILTER (quantity = 'estimate') AS b,
           max(recomputed) FILTER (quantity = 'p') AS p
    FROM recomputed_mixed_models
    WHERE refusals_removed
    GROUP BY source, study, study_version, variant, model, test
), sizes AS (
    SELECT source, study, study_version, variant, model, test, max(recomputed) FILTER (refusals_removed) AS d_removed,
           max(recomputed) FILTER (NOT refusals_removed) AS d_kept
    FROM recomputed_effect_sizes
    WHERE quantity = 'd'
    GROUP BY source, study, study_version, variant, model, test
), lengths AS (
    SELECT f.source, f.study, f.study_version, f.variant, f.model, e.statistic AS welch_t, e.df AS welch_df,
           e.p_value AS welch_p
    FROM compared_fits f
    JOIN estimates e ON e.call_id = f.call_id
    WHERE f.engine = 'welch' AND f.test IS NULL AND NOT f.refusals_removed
), cells AS (
    SELECT c.*, a.shortfall, x.b, x.p, s.d_removed, s.d_kept, w.welch_t, w.welch_df, w.welch_p,
           x.b > 0 AND x.p < 0.05 AS needs_more
    FROM claim_counts c
    SEMI JOIN printed_scopes o ON o.study = c.study AND o.scope = 'all' AND o.model = c.model
    LEFT JOIN asked_cells a USING (source, study, study_version, variant, model, test)
    LEFT JOIN mixed x USING (source, study, study_version, variant, model, test)
    LEFT JOIN sizes s USING (source, study, study_version, variant, model, test)
    LEFT JOIN lengths w USING (source, study, study_version, variant, model)
)
SELECT *, count(*) FILTER (needs_more) OVER (PARTITION BY source, study, study_version, variant, test)
           AS n_models_that_need_more
FROM cells;
