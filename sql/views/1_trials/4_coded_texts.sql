-- coded_texts: whether a text gets a code, by models and by people: what corrected estimates start from.
-- grain: source, study, study_version, variant, item, code
-- order: source, study, study_version, variant, model, test, item
-- design: coding
-- note:  `coder` is the share of models' codings that give the code (of a scale the mean point; 0 if none can be read, for
--        any guess is corrected), `people` that of people's, or the adjudicator's; NULL unless the text is in a sample
--        (`collect sample`): other texts that people have coded were not drawn at random. `probability` is that of being
--        drawn, 1 of texts that were not. What a form has read (the coder "local/rule") goes with the models' of any source.
--        People's codes go with the models' of any source, simulated people's with
--        simulated ones. `model` is what gave the text, `test` the code.
CREATE OR REPLACE VIEW coded_texts AS
WITH sources AS (
    SELECT DISTINCT source, study, study_version, variant
    FROM codings WHERE NOT is_person AND coder <> 'local/rule'
), of_models AS (
    SELECT s.source, study, study_version, variant, item, code, any_value(condition) AS condition,
           any_value(attributes) AS attributes, avg(given) AS given, count(DISTINCT coder) AS n_coders,
           count(*) FILTER (given IS NULL) AS n_unread
    FROM codings c
    JOIN sources s USING (study, study_version, variant)
    WHERE NOT is_person AND (c.source = s.source OR coder = 'local/rule')
    GROUP BY s.source, study, study_version, variant, item, code
), of_people AS (
    SELECT study, study_version, variant, item, code, source = 'simulated' AS is_simulated,
           coalesce(avg(given) FILTER (coder = 'adjudicator'), avg(given)) AS given, count(DISTINCT coder) AS n_people,
           min(given) < max(given) AND count(given) FILTER (coder = 'adjudicator') = 0 AS is_disputed
    FROM codings
    WHERE is_person AND given IS NOT NULL
    GROUP BY study, study_version, variant, item, code, is_simulated
), drawn AS (
    SELECT study, item, 1 - product(1 - probability) AS probability, bool_or(is_drawn) AS is_drawn
    FROM (SELECT DISTINCT study, sample_no, seed, drawn_by, item, probability, is_drawn FROM text_samples)
    GROUP BY study, item
)
SELECT m.source, m.study, m.study_version, m.variant, coalesce(map_extract(m.attributes, 'model')[1], 'texts') AS model,
       m.code AS test, m.item, m.code, m.condition, coalesce(m.given, 0) AS coder, m.n_coders, m.n_unread,
       CASE WHEN d.is_drawn THEN coalesce(h.given, s.given) END AS people,
       CASE WHEN d.is_drawn AND coalesce(h.given, s.given) IS NOT NULL THEN d.probability ELSE 1 END AS probability,
       coalesce(d.is_drawn, false) AS is_drawn, coalesce(h.n_people, s.n_people, 0) AS n_people,
       coalesce(h.is_disputed, s.is_disputed, false) AS is_disputed, m.attributes
FROM of_models m
LEFT JOIN drawn d ON d.study = m.study AND d.item = m.item
LEFT JOIN of_people h ON h.study = m.study AND h.study_version = m.study_version AND h.variant = m.variant
      AND h.item = m.item AND h.code = m.code AND NOT h.is_simulated
LEFT JOIN of_people s ON s.study = m.study AND s.study_version = m.study_version AND s.variant = m.variant
      AND s.item = m.item AND s.code = m.code AND s.is_simulated AND m.source = 'simulated';
