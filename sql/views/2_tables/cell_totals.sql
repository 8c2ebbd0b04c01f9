-- cell_totals: counts and sums of each model, test and condition, from which the numbers in the text are pooled.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- design: association
-- paper: text
-- note:  answers are what `is_valid`; their tokens are summed and counted (where there is a count), so that a mean
--        over several tests is a ratio of sums. `max_tokens` is of answers, `n_wordings` of all trials.
CREATE OR REPLACE VIEW cell_totals AS
WITH by_wording AS (  -- first, for grouping finds wordings in less time than DISTINCT
    SELECT source, study, study_version, variant, model, test, condition, wording,
           count(*) AS n_trials, count(*) FILTER (is_refusal) AS n_refusals, count(*) FILTER (is_valid) AS n_valid,
           max(tokens) FILTER (is_valid) AS max_tokens, count(tokens) FILTER (is_valid) AS n_tokens,
           sum(tokens) FILTER (is_valid) AS tokens
    FROM association_answer_rows
    GROUP BY ALL
)
SELECT source, study, study_version, variant, model, test, condition,
       sum(n_trials)::BIGINT AS n_trials, count(wording) AS n_wordings, sum(n_refusals)::BIGINT AS n_refusals,
       sum(n_valid)::BIGINT AS n_answers, max(max_tokens) AS max_tokens,
       sum(n_tokens)::BIGINT AS n_tokens, sum(tokens)::DOUBLE AS tokens
FROM by_wording
GROUP BY ALL;
