-- cell_totals: counts and sums of each model and test, from which the numbers in the text are pooled.
-- grain: source, study_version, variant, model, test
-- reads: association_answer_rows, models, tests
-- study: rmiat
-- paper: text
-- note:  answers are what is no refusal; their tokens are summed and counted (where there is a count) by condition, so
--        that a mean over several tests is a ratio of sums. `max_tokens` is of answers, `n_wordings` of all trials.
CREATE OR REPLACE VIEW cell_totals AS
WITH counted AS (
    SELECT source, study_version, variant, model, test,
           count(*) AS n_trials,
           count(DISTINCT wording) AS n_wordings,
           count(*) FILTER (is_refusal) AS n_refusals,
           count(*) FILTER (is_refusal AND condition = 'compatible') AS n_refusals_compatible,
           count(*) FILTER (is_refusal AND condition = 'incompatible') AS n_refusals_incompatible,
           count(*) FILTER (NOT is_refusal) AS n_answers,
           max(tokens) FILTER (NOT is_refusal) AS max_tokens,
           count(tokens) FILTER (NOT is_refusal AND condition = 'compatible') AS n_tokens_compatible,
           count(tokens) FILTER (NOT is_refusal AND condition = 'incompatible') AS n_tokens_incompatible,
           sum(tokens) FILTER (NOT is_refusal AND condition = 'compatible')::DOUBLE AS tokens_compatible,
           sum(tokens) FILTER (NOT is_refusal AND condition = 'incompatible')::DOUBLE AS tokens_incompatible
    FROM association_answer_rows
    GROUP BY source, study_version, variant, model, test
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = 'rmiat' AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = 'rmiat' AND t.study_version = c.study_version AND t.test = c.test
ORDER BY c.source, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test;
