-- tokens_by_condition: how long each model reasons in each condition.
-- grain: source, study_version, variant, model, test, condition
-- reads: association_answer_rows, models, tests
-- study: rmiat
-- paper: Table S5
-- note:  refusals are left out here and counted in refusal_counts. `n` answers have a token count and make the mean;
--        an answer without one is counted in `n_without_tokens`, never taken as 0. The SD divides by n - 1.
CREATE OR REPLACE VIEW tokens_by_condition AS
WITH counted AS (
    SELECT source, study_version, variant, model, test, condition,
           avg(tokens) FILTER (NOT is_refusal) AS mean_tokens,
           stddev_samp(tokens) FILTER (NOT is_refusal) AS sd_tokens,
           count(tokens) FILTER (NOT is_refusal) AS n,
           count(*) FILTER (NOT is_refusal AND tokens IS NULL) AS n_without_tokens,
           string_agg(DISTINCT token_source, ' + ' ORDER BY token_source) AS token_source
    FROM association_answer_rows
    GROUP BY source, study_version, variant, model, test, condition
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = 'rmiat' AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = 'rmiat' AND t.study_version = c.study_version AND t.test = c.test
ORDER BY c.source, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test, c.condition;
