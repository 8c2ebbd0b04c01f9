-- topic_effects: the coefficients of the regressions of topic shares.
-- grain: call_id, topic, term
-- note:  as summary() of stm's estimateEffect prints them (seeded draws). Without an interaction a term is a
--        difference to the reference levels: the first condition, the first model of the alphabet.
CREATE OR REPLACE VIEW topic_effects AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit,
       regexp_extract(e.term, '^topic (\d+): ', 1)::INTEGER AS topic,
       regexp_replace(e.term, '^topic \d+: ', '') AS term,
       e.estimate, e.std_error, e.df, e.statistic, e.p_value, e.conf_low, e.conf_high, f.call_id
FROM estimates e
JOIN fits f ON f.call_id = e.call_id
WHERE f.engine = 'stm'
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, f.call_id, e.term_no;
