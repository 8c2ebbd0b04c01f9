-- topic_quality: how coherent and how exclusive each topic is.
-- grain: call_id, topic
-- order: source, study, study_version, variant, fit, call_id, topic
-- note:  of the ten most frequent words (nearer to 0 is more coherent) and of FREX with weight .7 (10 is most
--        exclusive). They are for comparing topics, and fits to the same documents; no value is good by itself.
CREATE OR REPLACE VIEW topic_quality AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, t.topic, t.semantic_coherence, t.exclusivity,
       t.proportion, f.call_id
FROM stm_topics t
JOIN fits f ON f.call_id = t.call_id;
