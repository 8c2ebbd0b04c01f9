-- model_addresses: at which addresses each model was asked, and how the servers there named themselves.
-- grain: source, study, study_version, variant, model, provider, requested_model, base_url
-- order: source, study, study_version, variant, model, provider, requested_model, first_done_at, base_url
-- note:  one name at two addresses may be two models. A port may change from day to day, so nothing is left out for it.
--        Simulated and imported answers have no address (NULL).
--        `n_addresses` counts the model's addresses; fingerprints are those of the answers, with commas between them.
CREATE OR REPLACE VIEW model_addresses AS
WITH asked AS (
    SELECT run_id, model, any_value(base_url) AS base_url FROM run_models GROUP BY run_id, model
), counted AS (
    SELECT a.source, a.study, a.study_version, a.variant, a.model, a.provider, a.requested_model, m.base_url,
           count(*) AS n_trials,
           string_agg(DISTINCT a.fingerprint, ', ' ORDER BY a.fingerprint) AS fingerprints,
           avg(a.output_tokens) AS mean_output_tokens,
           min(a.done_at) AS first_done_at,
           max(a.done_at) AS last_done_at
    FROM shown_attempts a
    JOIN asked m ON m.run_id = a.run_id AND m.model = a.model
    WHERE a.is_final
    GROUP BY a.source, a.study, a.study_version, a.variant, a.model, a.provider, a.requested_model, m.base_url
)
SELECT *,
       count(base_url) OVER (PARTITION BY source, study, study_version, variant, model, provider, requested_model)
           AS n_addresses
FROM counted;
