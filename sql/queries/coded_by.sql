-- How many texts of the study $study were coded by a rule (what a form has read), by models, and by people.
SELECT count(DISTINCT item), count(DISTINCT item) FILTER (coder = 'local/rule'),
       count(DISTINCT item) FILTER (NOT is_person AND coder <> 'local/rule'), count(DISTINCT item) FILTER (is_person)
FROM codings WHERE study = $study AND given IS NOT NULL
