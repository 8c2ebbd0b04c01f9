-- recomputed_decisions: shares of yes, and how decisions go with the pairings before them, as papers print them.
-- grain: source, study, study_version, variant, model, test, condition, quantity
-- design: decision
-- gives: yes_share, yes_percent, decision_wat_r, decision_wat_r_by_stereotype
-- note:  the variants of a study are of one print: a number is of the unchanged study, or of the first variant that
--        has it. Shares are padded, as the authors' code has them; without a test, the mean of all tests. Correlations
--        are of the codings that imported files bring, over answers and over the means of tests.
CREATE OR REPLACE VIEW recomputed_decisions AS
WITH shares AS (
    SELECT source, study, study_version, variant, model, test, condition,
           avg(share_yes_padded ORDER BY test) AS yes_share, 100 * yes_share AS yes_percent
    FROM decision_questions
    GROUP BY source, study, study_version, variant, model, condition, GROUPING SETS ((test), ())
), coded AS (
    SELECT source, study, study_version, variant, model, test, coded_d, coded_decision
    FROM decision_answer_rows
    WHERE coded_d IS NOT NULL AND coded_decision IS NOT NULL
), pairs AS (
    SELECT *, 'decision_wat_r' AS quantity
    FROM coded
    UNION ALL
    SELECT source, study, study_version, variant, model, test, avg(coded_d), avg(coded_decision),
           'decision_wat_r_by_stereotype'
    FROM coded
    GROUP BY source, study, study_version, variant, model, test
), long AS (
    SELECT source, study, study_version, variant, model, test, condition, quantity, recomputed
    FROM (UNPIVOT shares ON yes_share, yes_percent INTO NAME quantity VALUE recomputed)
    UNION ALL
    SELECT source, study, study_version, variant, model, NULL, NULL, quantity,
           corr(coded_d, coded_decision)
    FROM pairs
    GROUP BY source, study, study_version, variant, model, quantity
    HAVING stddev_samp(coded_d) > 0 AND stddev_samp(coded_decision) > 0
), usual AS (
    SELECT DISTINCT study, usual_variant FROM planned_cells
)
SELECT l.source, l.study, l.study_version, coalesce(u.usual_variant, l.variant) AS variant, l.model, l.test AS test,
       NULL::BOOLEAN AS refusals_removed, l.condition, l.quantity, l.recomputed,
       CASE WHEN l.test IS NULL THEN a.absent END AS missing
FROM long l
LEFT JOIN usual u USING (study)
LEFT JOIN decision_absent_tests a USING (source, study, study_version, variant, model)
QUALIFY row_number() OVER (
    PARTITION BY l.source, l.study, l.study_version, l.model, l.test, l.condition, l.quantity
    ORDER BY l.variant <> u.usual_variant, l.variant
) = 1;
