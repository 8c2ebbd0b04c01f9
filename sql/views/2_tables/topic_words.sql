-- topic_words: the words of each topic, the best first.
-- grain: call_id, topic, kind, place
-- order: source, study, study_version, variant, fit, call_id, topic, kind, place
-- note:  stems, as the stemmer leaves them ("stereotyp"). kind: frex (words by which the topic differs from the
--        others; the paper prints five of them) or prob (its most frequent words).
CREATE OR REPLACE VIEW topic_words AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, w.topic, w.kind, w.place, w.word, f.call_id
FROM stm_words w
JOIN fits f ON f.call_id = w.call_id;
