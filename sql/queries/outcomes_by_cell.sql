-- outcomes_by_cell: how many trials of a study ended how, by cell and condition; of one source, or of all where it is NULL.
SELECT source, variant, model, test, condition,
       count(*) FILTER (outcome = 'answered') AS answered,
       count(*) FILTER (outcome = 'refused') AS refused,
       count(*) FILTER (outcome NOT IN ('answered', 'refused')) AS other
FROM trials
WHERE study = $study AND ($source IS NULL OR source = $source)
GROUP BY ALL
ORDER BY ALL
