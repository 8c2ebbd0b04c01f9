-- The code that models give most often to each text of the study $study.
SELECT item, mode(coding) AS coding
FROM codings
WHERE study = $study AND NOT is_person AND given IS NOT NULL
GROUP BY item
