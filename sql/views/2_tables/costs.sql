-- costs: what each model has cost in US dollars, and the tokens it was charged for.
-- grain: source, study, study_version, variant, model, provider, requested_model
-- order: source, study, study_version, variant, model, provider, requested_model
-- note:  of all attempts, the failed ones too. `n_unpriced` answers have no known cost (no price for the model, or no
--        count from the provider): they are missing from cost_usd, which is NULL if no cost is known at all. What ended
--        with an HTTP error (a filter, a declined request) is not charged, and none of them. Of the `n_priced`,
--        `n_stated` cost what their provider says that it charged, the others what the price list says.
CREATE OR REPLACE VIEW costs AS
SELECT source, study, study_version, variant, model, provider, requested_model,
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
GROUP BY source, study, study_version, variant, model, provider, requested_model;
