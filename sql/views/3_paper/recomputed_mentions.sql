-- recomputed_mentions: answers whose reasoning names the IAT, by test and condition, and in all tests together.
-- grain: source, study, study_version, variant, model, test, condition, quantity
-- reads: iat_mentions
-- design: association
-- gives: mentions
-- lacks: cell
-- note:  the test "total" is of the tests that are here. Where no reasoning is readable there is no row.
CREATE OR REPLACE VIEW recomputed_mentions AS
WITH readable AS (
    SELECT source, study, study_version, variant, model, test, condition, n_mentions
    FROM iat_mentions
    WHERE n_mentions IS NOT NULL
), counted AS (
    SELECT source, study, study_version, variant, model, test, condition, n_mentions::DOUBLE AS recomputed
    FROM readable
    UNION ALL
    SELECT source, study, study_version, variant, model, 'total', condition, sum(n_mentions)::DOUBLE
    FROM readable
    GROUP BY source, study, study_version, variant, model, condition
)
SELECT source, study, study_version, variant, model, test, true AS refusals_removed, condition,
       'mentions' AS quantity, recomputed, NULL::VARCHAR AS missing
FROM counted
ORDER BY ALL;
