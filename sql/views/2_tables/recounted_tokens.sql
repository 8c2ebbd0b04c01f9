-- recounted_tokens: the provider's own count of the reasoning beside a second count of its readable text.
-- grain: source, study, study_version, variant, model, recount_tokenizer
-- reads: shown_attempts, models
-- study: any
-- note:  filled by `collect recount`. `ratio` is recounted by provider over the `n_both` answers that have both: far from
--        1, the text that is shown is not what was counted (a summary, say, or another tokenizer). NULL without both.
CREATE OR REPLACE VIEW recounted_tokens AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, recount_tokenizer,
           count(*) AS n_recounted,
           count(reasoning_tokens) AS n_both,
           avg(reasoning_tokens_recounted) AS mean_recounted,
           avg(reasoning_tokens_recounted) FILTER (reasoning_tokens IS NOT NULL) AS mean_recounted_of_both,
           avg(reasoning_tokens) AS mean_reasoning_tokens,
           corr(reasoning_tokens, reasoning_tokens_recounted) AS correlation
    FROM shown_attempts
    WHERE is_final AND occasion IS NULL AND reasoning_tokens_recounted IS NOT NULL
    GROUP BY source, study, study_version, variant, model, recount_tokenizer
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.recount_tokenizer, c.n_recounted, c.n_both,
       c.mean_recounted, c.mean_reasoning_tokens,
       c.mean_recounted_of_both / nullif(c.mean_reasoning_tokens, 0) AS ratio,
       CASE WHEN isfinite(c.correlation) THEN c.correlation END AS correlation
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, c.recount_tokenizer;
