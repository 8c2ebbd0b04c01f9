-- refusals_by_condition: refusals in each condition, and what came of all trials that tables and fits leave out.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- design: association
-- note:  `n_rejected` were declined by the provider for no known reason: no refusals, and in no rate. They and the five
--        last columns share out `n_without_answer` and add up to it. By the refusal rule exact_label (RM-IAT) these five
--        are `n_refusals`, and `as_answered` are answers such as "Pleasant." that our reader takes for the option and
--        the paper's rule does not.
CREATE OR REPLACE VIEW refusals_by_condition AS
SELECT source, study, study_version, variant, model, test, condition,
       count(*) AS n_trials,
       count(*) FILTER (outcome = 'rejected') AS n_rejected,
       count(*) FILTER (is_refusal) AS n_refusals,
       avg(is_refusal::INTEGER) AS refusal_rate,
       count(*) FILTER (NOT is_valid) AS n_without_answer,
       count(*) FILTER (NOT is_valid AND outcome = 'answered') AS as_answered,
       count(*) FILTER (NOT is_valid AND outcome = 'refused') AS as_refused,
       count(*) FILTER (NOT is_valid AND outcome = 'filtered') AS as_filtered,
       count(*) FILTER (NOT is_valid AND outcome = 'truncated') AS as_truncated,
       count(*) FILTER (NOT is_valid AND outcome = 'malformed') AS as_malformed
FROM association_answer_rows
GROUP BY source, study, study_version, variant, model, test, condition;
