-- coding_confusion: how often people and each model give a text which codes.
-- grain: source, study, study_version, variant, model, by_people, by_model
-- order: source, study, study_version, variant, model, by_people, by_model
-- design: coding
-- note:  over all pairs of a person's and a model's coding of one text: `by_people` and `by_model` are their codes ("none": no
--        code). People's stand next to those of models of every source.
CREATE OR REPLACE VIEW coding_confusion AS
WITH once AS (
    SELECT DISTINCT source, study, study_version, variant, item, coder, is_person, repetition, coding
    FROM codings
    WHERE given IS NOT NULL
)
SELECT m.source, m.study, m.study_version, m.variant, m.coder AS model, p.coding AS by_people,
       m.coding AS by_model, count(*) AS n
FROM once m
JOIN once p ON p.study = m.study AND p.study_version = m.study_version AND p.variant = m.variant AND p.item = m.item
     AND p.is_person AND (p.source = 'human' OR p.source = m.source)
WHERE NOT m.is_person
GROUP BY m.source, m.study, m.study_version, m.variant, m.coder, p.coding, m.coding;
