-- tokens_by_condition: how long each model reasons in each condition.
-- grain: source, study, study_version, variant, model, test, condition
-- reads: association_answer_rows, models, tests, conditions
-- design: association
-- paper: Table S5
-- note:  refusals are left out here and counted in refusal_counts. `n` answers have a token count and make the mean;
--        an answer without one is counted in `n_without_tokens`, never taken as 0. The SD divides by n - 1.
CREATE OR REPLACE VIEW tokens_by_condition AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           avg(tokens) FILTER (NOT is_refusal) AS mean_tokens,
           stddev_samp(tokens) FILTER (NOT is_refusal) AS sd_tokens,
           count(tokens) FILTER (NOT is_refusal) AS n,
           count(*) FILTER (NOT is_refusal AND tokens IS NULL) AS n_without_tokens,
           string_agg(DISTINCT token_source, ' + ' ORDER BY token_source) AS token_source
    FROM association_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = c.study AND t.study_version = c.study_version AND t.test = c.test
LEFT JOIN conditions k ON k.study = c.study AND k.study_version = c.study_version AND k.condition = c.condition
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test, k.condition_no,
         c.condition;
