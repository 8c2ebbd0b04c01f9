-- refusals_by_condition: refusals by the paper's rule in each condition, and what our own outcomes call them.
-- grain: source, study, study_version, variant, model, test, condition
-- reads: association_answer_rows, models, tests, conditions
-- design: association
-- note:  `n_rejected` were declined by the provider for no known reason: no refusals, and in no rate.
--        The five last columns share out `n_refusals` and add up to it. `as_answered` are answers such as "Pleasant."
--        that our reader takes for the option and the paper's rule does not.
CREATE OR REPLACE VIEW refusals_by_condition AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           count(*) AS n_trials,
           count(*) FILTER (outcome = 'rejected') AS n_rejected,
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
SELECT counted.*
FROM counted
LEFT JOIN models USING (study, study_version, model)
LEFT JOIN tests USING (study, study_version, test)
LEFT JOIN conditions USING (study, study_version, condition)
ORDER BY source, study, study_version, variant, model_no, model, test_no, test, condition_no, condition;
