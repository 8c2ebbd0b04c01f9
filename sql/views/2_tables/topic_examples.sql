-- topic_examples: the answers in which each topic is largest, with their reasoning as the model wrote it.
-- grain: call_id, topic, place
-- order: source, study, study_version, variant, fit, call_id, topic, place
-- note:  model output, not to be trusted: it may hold anything. `proportion` is the topic's share in the document.
CREATE OR REPLACE VIEW topic_examples AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, e.topic, e.place, e.proportion, e.model, e.test,
       e.condition, e.trial_id, e.text, f.call_id
FROM stm_examples e
JOIN fits f ON f.call_id = e.call_id;
