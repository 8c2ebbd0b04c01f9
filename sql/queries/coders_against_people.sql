-- A row for each text, code and coder of the study $study (a model) with people's code next to it, where the text is in a
-- sample that people have coded: what a coder's errors are measured by.
SELECT t.source, t.study_version, t.variant, t.model AS coded_model, c.coder, t.code, t.item, c.kind, avg(c.given) AS given,
       any_value(t.people) AS people, any_value(t.probability) AS probability, any_value(t.condition) AS condition,
       any_value(t.attributes) AS attributes
FROM coded_texts t
JOIN codings c ON c.source = t.source AND c.study = t.study AND c.study_version = t.study_version
     AND c.variant = t.variant AND c.item = t.item AND c.code = t.code AND NOT c.is_person
WHERE t.study = $study AND t.people IS NOT NULL AND ($source IS NULL OR t.source = $source)
GROUP BY t.source, t.study_version, t.variant, t.model, c.coder, t.code, t.item, c.kind
ORDER BY ALL
