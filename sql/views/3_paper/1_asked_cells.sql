-- asked_cells: how many trials of each model and test are here, and in words what is short of the plan.
-- grain: source, study, study_version, variant, model, test
-- note:  of designs that ask each test of a plan (a game's cells are game_cells). A refusal is a trial. Where a run
--        does not say what it planned, its cells count as whole.
CREATE OR REPLACE VIEW asked_cells AS
WITH cells AS (
    SELECT source, study, study_version, variant, model, test, n_trials FROM refusal_counts
    UNION ALL
    SELECT source, study, study_version, variant, model, test, sum(n_trials)::BIGINT
    FROM compliance_by_condition
    GROUP BY source, study, study_version, variant, model, test
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.test, c.n_trials,
       CASE WHEN c.n_trials < t.planned
            THEN format('{} in {}: {:,} of {:,} trials', c.model, c.test, t.planned - c.n_trials, t.planned)
       END AS shortfall,
       row_number() OVER (
           PARTITION BY c.source, c.study, c.study_version, c.variant
           ORDER BY m.model_no, c.model, t.test_no, c.test
       ) AS cell_no
FROM cells c
LEFT JOIN tests t ON t.study = c.study AND t.study_version = c.study_version AND t.test = c.test
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model;
