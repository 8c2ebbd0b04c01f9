-- By model, how many games have the mark $mark among the factors of a round.
SELECT model, count(DISTINCT game)
FROM trials
WHERE game IS NOT NULL AND contains(factors, $mark)
GROUP BY model
ORDER BY model
