-- recomputed_mentions: answers whose reasoning names the IAT, by test and condition, and in all tests together.
-- grain: source, study, study_version, variant, model, test, condition, quantity
-- design: association
-- gives: mentions
-- lacks: cell
-- note:  the test "total" is of the tests that are here; `missing` names the others. Where no reasoning is readable there is no row.
CREATE OR REPLACE VIEW recomputed_mentions AS
WITH readable AS (
    SELECT source, study, study_version, variant, model, test, condition, n_mentions
    FROM iat_mentions
    WHERE n_mentions IS NOT NULL
), cells AS (
    SELECT DISTINCT r.source, r.study, r.study_version, r.variant, r.model, r.condition, p.test, p.test_no
    FROM readable r
    JOIN planned_cells p ON p.study = r.study AND p.model_no = 1
), absent AS (
    SELECT c.source, c.study, c.study_version, c.variant, c.model, c.condition,
           c.model || ' in ' || string_agg(c.test, ', ' ORDER BY c.test_no) AS missing
    FROM cells c
    ANTI JOIN readable r USING (source, study, study_version, variant, model, condition, test)
    GROUP BY c.source, c.study, c.study_version, c.variant, c.model, c.condition
), counted AS (
    SELECT source, study, study_version, variant, model, test, condition, n_mentions::DOUBLE AS recomputed,
           NULL AS missing
    FROM readable
    UNION ALL
    SELECT r.source, r.study, r.study_version, r.variant, r.model, 'total', r.condition, sum(r.n_mentions)::DOUBLE,
           min(a.missing)
    FROM readable r
    LEFT JOIN absent a USING (source, study, study_version, variant, model, condition)
    GROUP BY r.source, r.study, r.study_version, r.variant, r.model, r.condition
)
SELECT source, study, study_version, variant, model, test, true AS refusals_removed, condition,
       'mentions' AS quantity, recomputed, missing
FROM counted;
