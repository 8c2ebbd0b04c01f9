-- answer_sizes: how long prompts and answers of each model are, in tokens, and how long an answer takes.
-- grain: source, study, study_version, variant, model, provider, requested_model
-- order: source, study, study_version, variant, model, provider, requested_model
-- note:  output tokens include the reasoning. A dry run estimates tokens, cost and time from these. What no provider
--        counted is left out of its mean (NULL if none is counted), never taken as 0.
CREATE OR REPLACE VIEW answer_sizes AS
SELECT source, study, study_version, variant, model, provider, requested_model,
       count(*) AS n,
       count(output_tokens) AS n_counted,
       avg(input_tokens) AS mean_input_tokens,
       avg(output_tokens) AS mean_output_tokens,
       stddev_samp(output_tokens) AS sd_output_tokens,
       max(output_tokens) AS max_output_tokens,
       avg(latency_s) AS mean_latency_s
FROM trials
GROUP BY source, study, study_version, variant, model, provider, requested_model;
