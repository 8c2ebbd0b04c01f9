-- tokens_by_condition: how long each model reasons in each condition.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- design: association
-- paper: Table S5
-- note:  refusals are left out here and counted in refusal_counts. `n` answers have a token count and make the mean;
--        an answer without one is counted in `n_without_tokens`, never taken as 0. The SD divides by n - 1.
CREATE OR REPLACE VIEW tokens_by_condition AS
SELECT source, study, study_version, variant, model, test, condition,
       avg(tokens) FILTER (is_valid) AS mean_tokens,
       stddev_samp(tokens) FILTER (is_valid) AS sd_tokens,
       count(tokens) FILTER (is_valid) AS n,
       count(*) FILTER (is_valid AND tokens IS NULL) AS n_without_tokens,
       string_agg(DISTINCT token_source, ' + ' ORDER BY token_source) AS token_source
FROM association_answer_rows
GROUP BY source, study, study_version, variant, model, test, condition;
