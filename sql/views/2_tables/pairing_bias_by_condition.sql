-- pairing_bias_by_condition: D of each model in each test and wording, and by which group was named first.
-- grain: source, study, study_version, variant, model, test, condition
-- reads: pairing_answer_rows, models, tests, conditions
-- design: pairing, decision
-- note:  as pairing_bias; conditions are the wordings by name. `mean_d_a_first` and `mean_d_b_first`: of the answers
--        whose prompt named group a, or b, first. Where the two differ, the order matters.
CREATE OR REPLACE VIEW pairing_bias_by_condition AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           count(*) AS n_trials, count(*) FILTER (is_refusal) AS n_without_answer,
           count(*) FILTER (is_one_sided) AS n_one_sided,
           count(d) AS n_d, avg(d) AS mean_d, stddev_samp(d) AS sd_d,
           avg(CASE WHEN first_group = 'a' THEN d END) AS mean_d_a_first,
           avg(CASE WHEN first_group = 'b' THEN d END) AS mean_d_b_first
    FROM pairing_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = c.study AND t.study_version = c.study_version AND t.test = c.test
LEFT JOIN conditions k ON k.study = c.study AND k.study_version = c.study_version AND k.condition = c.condition
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test, k.condition_no,
         c.condition;
