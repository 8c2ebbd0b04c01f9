-- costs_by_month: what each model has cost in US dollars in each month (UTC), and the tokens it was charged for.
-- grain: source, study, study_version, variant, model, provider, requested_model, month
-- order: source, study, study_version, variant, model, provider, requested_model, month
-- note:  as costs, of all attempts by the month in which they were answered (or sent, if no answer came); `month` is
--        a text as in 2026-11, and NULL if nothing says when (imported answers).
CREATE OR REPLACE VIEW costs_by_month AS
SELECT source, study, study_version, variant, model, provider, requested_model,
       strftime(coalesce(done_at, sent_at, queued_at), '%Y-%m') AS month,
       count(*) AS n_attempts,
       count(cost_usd) AS n_priced,
       count(*) FILTER (price_source = 'provider') AS n_stated,
       count(*) FILTER (is_unpriced) AS n_unpriced,
       sum(input_tokens)::BIGINT AS input_tokens,
       sum(cached_input_tokens)::BIGINT AS cached_input_tokens,
       sum(cache_write_tokens)::BIGINT AS cache_write_tokens,
       sum(output_tokens)::BIGINT AS output_tokens,
       sum(cost_usd) AS cost_usd
FROM shown_attempts
GROUP BY source, study, study_version, variant, model, provider, requested_model, month;
