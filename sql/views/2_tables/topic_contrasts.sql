-- topic_contrasts: how much larger each topic is in the second condition than in the first.
-- grain: call_id, topic, model
-- order: source, study, study_version, variant, fit, call_id, topic, model NULLS FIRST
-- note:  differences of topic shares (incompatible minus compatible in the RM-IAT). model NULL: all models together.
--        p_holm and p_bh are adjusted over the topics of all models, and over the topics of those rows where it is
--        NULL.
CREATE OR REPLACE VIEW topic_contrasts AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, c.topic, c.model, c.estimate, c.std_error, c.df,
       c.statistic, c.p_value, c.p_holm, c.p_bh, c.conf_low, c.conf_high, f.call_id
FROM stm_contrasts c
JOIN fits f ON f.call_id = c.call_id;
