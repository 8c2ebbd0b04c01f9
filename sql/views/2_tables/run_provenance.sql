-- run_provenance: what a run's own answers tell of where they come from: prompts, served models, clocks, cost.
-- grain: source, study, study_version, variant, run_id, model, provider, requested_model
-- reads: attempts
-- study: any
-- note:  prompts_hash is the MD5 of the sorted prompt hashes: the same prompts give the same one in whatever order.
--        clock_offset_s is the provider's clock (header Date, whole seconds) minus this machine's, as a median.
CREATE OR REPLACE VIEW run_provenance AS
WITH clocked AS (
    SELECT *,
           try_strptime(regexp_extract(headers, '"date": ?"([^"]+)"', 1), '%a, %d %b %Y %H:%M:%S GMT') AS provider_at
    FROM attempts
)
SELECT source, study, study_version, variant, run_id, model, provider, requested_model,
       count(*) AS n_attempts,
       count(*) FILTER (is_final) AS n_trials,
       count(DISTINCT prompt_hash) AS n_prompts,
       md5(string_agg(DISTINCT prompt_hash, ',' ORDER BY prompt_hash)) AS prompts_hash,
       string_agg(DISTINCT served_model, ', ' ORDER BY served_model) AS served_models,
       count(DISTINCT served_model) AS n_served_models,
       count(DISTINCT fingerprint) AS n_fingerprints,
       -- a Date is cut to whole seconds, so on average it is half a second early
       median(epoch(provider_at - first_byte_at) + 0.5) AS clock_offset_s,
       min(sent_at) AS first_sent_at,
       max(done_at) AS last_done_at,
       sum(cost_usd) AS cost_usd
FROM clocked
GROUP BY source, study, study_version, variant, run_id, model, provider, requested_model
ORDER BY first_sent_at, run_id, model, provider, requested_model, source, study, study_version, variant;
