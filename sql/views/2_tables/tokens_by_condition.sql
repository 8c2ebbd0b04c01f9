-- tokens_by_condition: how long each model reasons in each condition.
-- grain: source, study_version, variant, model, test, condition
-- reads: rmiat_answers
-- study: rmiat
-- paper: Table S5
-- note:  refusals are left out here and counted in refusal_counts. `n` answers have a token count and make the mean;
--        an answer without one is counted in `n_without_tokens`, never taken as 0. The SD divides by n - 1.
CREATE OR REPLACE VIEW tokens_by_condition AS
SELECT source, study_version, variant, model, test, condition,
       avg(tokens) FILTER (NOT is_refusal) AS mean_tokens,
       stddev_samp(tokens) FILTER (NOT is_refusal) AS sd_tokens,
       count(tokens) FILTER (NOT is_refusal) AS n,
       count(*) FILTER (NOT is_refusal AND tokens IS NULL) AS n_without_tokens,
       string_agg(DISTINCT token_source, ' + ' ORDER BY token_source) AS token_source
FROM rmiat_answers
GROUP BY source, study_version, variant, model, test, condition
ORDER BY source, study_version, variant, min(model_no), model, min(test_no), test, condition;
