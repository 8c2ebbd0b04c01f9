-- claim_counts: what is counted of each model and test, for the numbers in the text of a paper.
-- grain: source, study, study_version, variant, model, test
-- order: source, study, study_version, variant, model, test
-- design: association
-- note:  the two conditions of a cell in one row, in the study's order. `step` is that of the model's token counts.
CREATE OR REPLACE VIEW claim_counts AS
WITH totals AS (
    SELECT source, study, study_version, variant, model, test, sum(n_trials)::BIGINT AS n_trials,
           sum(n_refusals)::BIGINT AS n_refusals, sum(n_answers)::BIGINT AS n_answers, max(n_wordings) AS n_wordings,
           max(max_tokens) AS max_tokens,
           coalesce(sum(n_refusals) FILTER (condition_no = 1), 0)::BIGINT AS n_refusals_first,
           coalesce(sum(n_refusals) FILTER (condition_no = 2), 0)::BIGINT AS n_refusals_second,
           coalesce(sum(n_tokens) FILTER (condition_no = 1), 0)::BIGINT AS n_tokens_first,
           coalesce(sum(n_tokens) FILTER (condition_no = 2), 0)::BIGINT AS n_tokens_second,
           coalesce(sum(tokens) FILTER (condition_no = 1), 0) AS tokens_first,
           coalesce(sum(tokens) FILTER (condition_no = 2), 0) AS tokens_second
    FROM cell_totals
    LEFT JOIN conditions USING (study, study_version, condition)
    GROUP BY source, study, study_version, variant, model, test
), mentions AS (
    SELECT source, study, study_version, variant, model, test,
           max(n_mentions) FILTER (condition_no = 1) AS n_mentions_first,
           max(n_mentions) FILTER (condition_no = 2) AS n_mentions_second
    FROM iat_mentions
    LEFT JOIN conditions USING (study, study_version, condition)
    GROUP BY source, study, study_version, variant, model, test
), steps AS (
    SELECT source, study, study_version, variant, model, min(step) AS step
    FROM token_sources
    GROUP BY source, study, study_version, variant, model
)
SELECT t.*, m.n_mentions_first, m.n_mentions_second, s.step
FROM totals t
LEFT JOIN mentions m USING (source, study, study_version, variant, model, test)
LEFT JOIN steps s USING (source, study, study_version, variant, model);
