-- recounted_tokens: the provider's own count of the reasoning next to a second count of its readable text.
-- grain: sorted by source, study, study_version, variant, model, recount_tokenizer
-- note:  filled by `collect recount`. `ratio` is recounted by provider over the `n_both` answers that have both: far from
--        1, the text that is shown is not what was counted (a summary, say, or another tokenizer). NULL without both.
CREATE OR REPLACE VIEW recounted_tokens AS
SELECT source, study, study_version, variant, model, recount_tokenizer,
       count(*) AS n_recounted,
       count(reasoning_tokens) AS n_both,
       avg(reasoning_tokens_recounted) AS mean_recounted,
       avg(reasoning_tokens) AS mean_reasoning_tokens,
       avg(reasoning_tokens_recounted) FILTER (reasoning_tokens IS NOT NULL) / nullif(mean_reasoning_tokens, 0) AS ratio,
       CASE WHEN isfinite(corr(reasoning_tokens, reasoning_tokens_recounted))
            THEN corr(reasoning_tokens, reasoning_tokens_recounted) END AS correlation
FROM shown_attempts
WHERE is_final AND occasion IS NULL AND reasoning_tokens_recounted IS NOT NULL
GROUP BY source, study, study_version, variant, model, recount_tokenizer;
