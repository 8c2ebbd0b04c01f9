-- topic_correlations: does a topic grow when tokens do? Pearson's r of topic shift and Cohen's d over cells.
-- grain: call_id, topic, model
-- order: source, study, study_version, variant, fit, call_id, topic, model NULLS FIRST
-- note:  a cell is a model and a test (topic_shifts). model NULL: the cells of all models, which differ in more than
--        the test. p_holm and p_bh are adjusted over the topics. 95 % intervals by Fisher's z.
CREATE OR REPLACE VIEW topic_correlations AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, c.topic, c.model, c.n_cells, c.r, c.df, c.statistic,
       c.p_value, c.p_holm, c.p_bh, c.conf_low, c.conf_high, f.call_id
FROM stm_correlations c
JOIN fits f ON f.call_id = c.call_id;
