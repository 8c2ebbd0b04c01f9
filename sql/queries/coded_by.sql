-- How many texts of the study $study were coded by a rule (what a form has read), by models, and by people: of those
-- drawn at random, and of others.
SELECT count(DISTINCT item), count(DISTINCT item) FILTER (coder = 'local/rule'),
       count(DISTINCT item) FILTER (NOT is_person AND coder <> 'local/rule'),
       count(DISTINCT item) FILTER (is_person AND is_drawn), count(DISTINCT item) FILTER (is_person AND NOT is_drawn)
FROM (SELECT c.*, EXISTS (FROM text_samples s WHERE s.study = c.study AND s.item = c.item AND s.is_drawn) AS is_drawn
      FROM codings c)
WHERE study = $study AND given IS NOT NULL
