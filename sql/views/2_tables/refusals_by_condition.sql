-- refusals_by_condition: refusals by the paper's rule in each condition, and what our own outcomes call them.
-- grain: source, study, study_version, variant, model, test, condition
-- reads: association_answer_rows, models, tests, conditions
-- design: association
-- note:  the five last columns share out `n_refusals` and add up to it. `as_answered` are answers such as "Pleasant."
--        that our reader takes for the option and the paper's rule does not.
CREATE OR REPLACE VIEW refusals_by_condition AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           count(*) AS n_trials,
           count(*) FILTER (is_refusal) AS n_refusals,
           avg(is_refusal::INTEGER) AS refusal_rate,
           count(*) FILTER (is_refusal AND outcome = 'answered') AS as_answered,
           count(*) FILTER (is_refusal AND outcome = 'refused') AS as_refused,
           count(*) FILTER (is_refusal AND outcome = 'filtered') AS as_filtered,
           count(*) FILTER (is_refusal AND outcome = 'truncated') AS as_truncated,
           count(*) FILTER (is_refusal AND outcome = 'malformed') AS as_malformed
    FROM association_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = c.study AND t.study_version = c.study_version AND t.test = c.test
LEFT JOIN conditions k ON k.study = c.study AND k.study_version = c.study_version AND k.condition = c.condition
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test, k.condition_no,
         c.condition;
