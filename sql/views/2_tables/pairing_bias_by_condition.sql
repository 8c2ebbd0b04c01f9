-- pairing_bias_by_condition: D of each model in each test and wording, and by which group was named first.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- design: pairing, decision
-- note:  as pairing_bias; conditions are the wordings by name. `mean_d_a_first` and `mean_d_b_first`: of the answers
--        whose prompt named group a, or b, first. Where the two differ, the order matters.
CREATE OR REPLACE VIEW pairing_bias_by_condition AS
SELECT source, study, study_version, variant, model, test, condition,
       count(*) AS n_trials, count(*) FILTER (outcome <> 'answered') AS n_without_answer,
       count(*) FILTER (is_one_sided) AS n_one_sided,
       count(d) AS n_d, avg(d) AS mean_d, stddev_samp(d) AS sd_d,
       avg(CASE WHEN first_group = 'a' THEN d END) AS mean_d_a_first,
       avg(CASE WHEN first_group = 'b' THEN d END) AS mean_d_b_first
FROM pairing_answer_rows
GROUP BY source, study, study_version, variant, model, test, condition;
