-- claim_counts: what is counted of each model and test, for the numbers in the text of a paper.
-- grain: source, study, study_version, variant, model, test
-- reads: cell_totals, iat_mentions, token_sources
-- design: association
-- note:  both conditions of a cell in one row. `step` is that of the model's token counts.
CREATE OR REPLACE VIEW claim_counts AS
WITH totals AS (
    SELECT source, study, study_version, variant, model, test, sum(n_trials)::BIGINT AS n_trials,
           sum(n_refusals)::BIGINT AS n_refusals, sum(n_answers)::BIGINT AS n_answers, max(n_wordings) AS n_wordings,
           max(max_tokens) AS max_tokens,
           coalesce(sum(n_refusals) FILTER (condition = 'compatible'), 0)::BIGINT AS n_refusals_compatible,
           coalesce(sum(n_refusals) FILTER (condition = 'incompatible'), 0)::BIGINT AS n_refusals_incompatible,
           coalesce(sum(n_tokens) FILTER (condition = 'compatible'), 0)::BIGINT AS n_tokens_compatible,
           coalesce(sum(n_tokens) FILTER (condition = 'incompatible'), 0)::BIGINT AS n_tokens_incompatible,
           coalesce(sum(tokens) FILTER (condition = 'compatible'), 0) AS tokens_compatible,
           coalesce(sum(tokens) FILTER (condition = 'incompatible'), 0) AS tokens_incompatible
    FROM cell_totals
    GROUP BY source, study, study_version, variant, model, test
), mentions AS (
    SELECT source, study, study_version, variant, model, test,
           max(n_mentions) FILTER (condition = 'compatible') AS n_mentions_compatible,
           max(n_mentions) FILTER (condition = 'incompatible') AS n_mentions_incompatible
    FROM iat_mentions
    GROUP BY source, study, study_version, variant, model, test
), steps AS (
    SELECT source, study, study_version, variant, model, min(step) AS step
    FROM token_sources
    GROUP BY source, study, study_version, variant, model
)
SELECT t.*, m.n_mentions_compatible, m.n_mentions_incompatible, s.step
FROM totals t
LEFT JOIN mentions m USING (source, study, study_version, variant, model, test)
LEFT JOIN steps s USING (source, study, study_version, variant, model)
ORDER BY t.source, t.study, t.study_version, t.variant, t.model, t.test;
