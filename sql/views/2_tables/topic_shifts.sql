-- topic_shifts: how topics shift with condition in each model and test, next to Cohen's d of tokens there.
-- grain: call_id, topic, model, test
-- order: source, study, study_version, variant, fit, call_id, topic, models.model_no, model, tests.test_no, test
-- note:  estimate is the coefficient of condition in lm(share ~ condition), 95 % intervals. Cells with fewer than
--        five documents of a condition are left out. cohens_d is of all answers of the cell, refusals removed (Table
--        S3).
CREATE OR REPLACE VIEW topic_shifts AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, s.topic, s.model, s.test, s.estimate, s.std_error, s.df,
       s.statistic, s.p_value, s.conf_low, s.conf_high, s.cohens_d, f.call_id
FROM stm_shifts s
JOIN fits f ON f.call_id = s.call_id;
