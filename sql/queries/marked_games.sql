-- By model, how many games have a factor of the name $mark in a round.
SELECT model, count(DISTINCT game)
FROM trial_rows
WHERE game IS NOT NULL AND map_extract(factor_lists, $mark)[1] IS NOT NULL
GROUP BY model
ORDER BY model
