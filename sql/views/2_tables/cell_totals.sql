-- cell_totals: counts and sums of each model, test and condition, from which the numbers in the text are pooled.
-- grain: source, study, study_version, variant, model, test, condition
-- reads: association_answer_rows, models, tests, conditions
-- design: association
-- paper: text
-- note:  answers are what is no refusal; their tokens are summed and counted (where there is a count), so that a mean
--        over several tests is a ratio of sums. `max_tokens` is of answers, `n_wordings` of all trials.
CREATE OR REPLACE VIEW cell_totals AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           count(*) AS n_trials,
           count(DISTINCT wording) AS n_wordings,
           count(*) FILTER (is_refusal) AS n_refusals,
           count(*) FILTER (NOT is_refusal) AS n_answers,
           max(tokens) FILTER (NOT is_refusal) AS max_tokens,
           count(tokens) FILTER (NOT is_refusal) AS n_tokens,
           sum(tokens) FILTER (NOT is_refusal)::DOUBLE AS tokens
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
