-- run_provenance: what a run's own answers say about their origin: prompts, served models, clocks, cost.
-- grain: source, study, study_version, variant, run_id, model, provider, requested_model
-- order: first_sent_at, run_id, model, provider, requested_model, source, study, study_version, variant
-- note:  n_priced, n_stated and n_unpriced are as in costs.
--        prompts_hash is the MD5 of the sorted prompt hashes: the same prompts give the same one in whatever order.
--        clock_offset_s is the provider's clock (header Date, whole seconds) minus this machine's, as a median.
--        Different values are found by grouping: DISTINCT in an aggregate goes through all rows once more for each,
--        and keeps them. `cell` is 64 bits of hash in place of eight texts in millions of keys.
CREATE OR REPLACE VIEW run_provenance AS
WITH clocked AS NOT MATERIALIZED (  -- read twice, for one reading would pass on all of its columns, in threads
    SELECT *,
           hash(source, study, study_version, variant, run_id, model, provider, requested_model) AS cell,
           -- HTTP writes a date in 29 characters, always; a regular expression would take five times as long
           coalesce(nullif(strpos(headers, '"date": "'), 0), nullif(strpos(headers, '"date":"'), 0) - 1) AS date_at,
           try_strptime(substr(headers, date_at + 9, 30), '%a, %d %b %Y %H:%M:%S GMT"') AS provider_at
    FROM shown_attempts
), served AS (
    SELECT source, study, study_version, variant, run_id, model, provider, requested_model, cell,
           served_model, fingerprint,
           count(*) AS n_attempts,
           count(*) FILTER (is_final) AS n_trials,
           -- a Date is cut to whole seconds, so on average it is half a second early
           list(epoch(provider_at - first_byte_at) + 0.5) AS clock_offsets_s,
           min(sent_at) AS first_sent_at,
           max(done_at) AS last_done_at,
           count(cost_usd) AS n_priced,
           count(*) FILTER (price_source = 'provider') AS n_stated,
           count(*) FILTER (is_unpriced) AS n_unpriced,
           sum(cost_usd) AS cost_usd
    FROM clocked
    GROUP BY ALL
), prompts AS (
    SELECT cell, count(prompt_hash) AS n_prompts,
           md5(array_to_string(list_sort(list(prompt_hash) FILTER (prompt_hash IS NOT NULL)), ',')) AS prompts_hash
    FROM (SELECT DISTINCT cell, prompt_hash FROM clocked)
    GROUP BY cell
)
SELECT source, study, study_version, variant, run_id, model, provider, requested_model,
       sum(n_attempts)::BIGINT AS n_attempts,
       sum(n_trials)::BIGINT AS n_trials,
       any_value(n_prompts) AS n_prompts,
       any_value(prompts_hash) AS prompts_hash,
       string_agg(DISTINCT served_model, ', ' ORDER BY served_model) AS served_models,
       count(DISTINCT served_model) AS n_served_models,
       count(DISTINCT fingerprint) AS n_fingerprints,
       list_median(flatten(list(clock_offsets_s))) AS clock_offset_s,
       min(first_sent_at) AS first_sent_at,
       max(last_done_at) AS last_done_at,
       sum(n_priced)::BIGINT AS n_priced,
       sum(n_stated)::BIGINT AS n_stated,
       sum(n_unpriced)::BIGINT AS n_unpriced,
       sum(cost_usd) AS cost_usd
FROM served
JOIN prompts USING (cell)
GROUP BY source, study, study_version, variant, run_id, model, provider, requested_model;
