-- topic_prevalence: how large each topic is by model, by condition, by test, and by model and condition.
-- grain: call_id, scope, topic, model, condition, test
-- order: source, study, study_version, variant, fit, call_id, scope, topic, model_no, model, test_no, test, condition
-- paper: Table S14
-- note:  regressions of the topic shares (estimateEffect, 95 % intervals, seeded). scope says what is separated;
--        what is NULL is not. By model as in the paper: the condition is held at the more frequent one.
CREATE OR REPLACE VIEW topic_prevalence AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, p.scope, p.topic, p.model, p.condition, p.test, p.estimate,
       p.conf_low, p.conf_high, m.label AS model_label, m.model_no, t.label AS test_label, t.test_no, f.call_id
FROM stm_prevalence p
JOIN fits f ON f.call_id = p.call_id
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = p.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = p.test;
