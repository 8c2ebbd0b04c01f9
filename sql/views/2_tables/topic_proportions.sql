-- topic_proportions: how large each topic is, and its words.
-- grain: call_id, topic
-- order: source, study, study_version, variant, fit, call_id, topic
-- paper: Table S13
-- note:  `proportion` is the mean share over all documents; `n_dominant` counts the documents in which the topic is
--        the largest. Words are stems, the best first: FREX words tell the topic from others, frequent ones need not.
CREATE OR REPLACE VIEW topic_proportions AS
WITH words AS (
    SELECT call_id, topic,
           string_agg(word, ', ' ORDER BY place) FILTER (kind = 'frex' AND place <= 7) AS frex_words,
           string_agg(word, ', ' ORDER BY place) FILTER (kind = 'prob' AND place <= 7) AS frequent_words
    FROM stm_words
    GROUP BY call_id, topic
)
SELECT f.source, f.study, f.study_version, f.variant, f.fit, t.topic, t.proportion, t.n_dominant,
       w.frex_words, w.frequent_words, f.call_id
FROM stm_topics t
JOIN fits f ON f.call_id = t.call_id
LEFT JOIN words w ON w.call_id = t.call_id AND w.topic = t.topic;
