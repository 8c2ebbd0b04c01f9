-- recomputed_design: what counting says of the design: models, tests, conditions, groups, words, items, trials.
-- grain: source, study, study_version, variant, quantity
-- design: forced_choice
-- gives: n_models, n_tests, n_conditions, n_groups, n_words, n_items, n_trials_of_run, n_trials, coverage_percent
-- note:  a number that is not the same in all models and tests has no row. Answers that were forced into a schema are
--        left out. `coverage_percent`: of the valid answers, those that are consistent or not.
CREATE OR REPLACE VIEW recomputed_design AS
WITH counted AS (
    SELECT source, study, study_version, variant, count(DISTINCT model) AS n_models,
           count(DISTINCT test) AS n_tests, sum(n_trials) AS n_trials,
           CASE WHEN count(DISTINCT n_conditions) = 1 THEN min(n_conditions) END AS n_conditions,
           CASE WHEN count(DISTINCT n_groups) = 1 THEN min(n_groups) END AS n_groups,
           CASE WHEN count(DISTINCT n_items) = 1 THEN min(n_items) END AS n_items,
           CASE WHEN count(DISTINCT n_trials) = 1 THEN min(n_trials) END AS n_trials_of_run,
           CASE WHEN bool_and(least_words = most_words) THEN max(most_words) END AS n_words
    FROM design_counts
    WHERE NOT structured_output
    GROUP BY source, study, study_version, variant
), coded AS (
    SELECT source, study, study_version, variant, sum(coverage_percent * n_valid) / sum(n_valid) AS coverage_percent
    FROM consistency_by_condition
    WHERE NOT structured_output
    GROUP BY source, study, study_version, variant
), wide AS (
    SELECT source, study, study_version, variant, COLUMNS('^n_')::DOUBLE, coverage_percent
    FROM counted
    LEFT JOIN coded USING (source, study, study_version, variant)
)
SELECT source, study, study_version, variant, NULL::VARCHAR AS model, NULL::VARCHAR AS test,
       NULL::BOOLEAN AS refusals_removed, NULL::VARCHAR AS condition, quantity, recomputed, NULL::VARCHAR AS missing
FROM (
    UNPIVOT wide ON n_models, n_tests, n_conditions, n_groups, n_words, n_items, n_trials_of_run, n_trials,
        coverage_percent
    INTO NAME quantity VALUE recomputed
);
