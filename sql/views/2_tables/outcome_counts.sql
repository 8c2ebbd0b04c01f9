-- outcome_counts: what came of the trials of each condition, and how many attempts failed on the way.
-- grain: source, study, study_version, variant, model, test, condition
-- reads: shown_attempts, models, tests, conditions
-- study: any
-- note:  truncated, filtered and failed attempts cut the dependent variable, so they are counted by condition.
--        A failed attempt ends no trial; `n_trials` is the sum of the five outcomes.
CREATE OR REPLACE VIEW outcome_counts AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           count(*) FILTER (is_final) AS n_trials,
           count(*) FILTER (is_final AND outcome = 'answered') AS n_answered,
           count(*) FILTER (is_final AND outcome = 'refused') AS n_refused,
           count(*) FILTER (is_final AND outcome = 'filtered') AS n_filtered,
           count(*) FILTER (is_final AND outcome = 'truncated') AS n_truncated,
           count(*) FILTER (is_final AND outcome = 'malformed') AS n_malformed,
           count(*) FILTER (outcome = 'failed') AS n_failed_attempts
    FROM shown_attempts
    WHERE occasion IS NULL
    GROUP BY source, study, study_version, variant, model, test, condition
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = c.study AND t.study_version = c.study_version AND t.test = c.test
LEFT JOIN conditions k ON k.study = c.study AND k.study_version = c.study_version AND k.condition = c.condition
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test, k.condition_no,
         c.condition;
