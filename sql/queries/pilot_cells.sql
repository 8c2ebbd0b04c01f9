-- What a pilot says of each cell of a study: how many answered, and how long (tokens of the measure that the study names).
SELECT source, variant, model, test, condition,
       count(*) AS n, count(*) FILTER (WHERE outcome = 'answered') AS n_answered,
       count(tokens) FILTER (WHERE outcome = 'answered') AS n_counted,
       avg(tokens) FILTER (WHERE outcome = 'answered') AS mean_tokens,
       stddev_samp(tokens) FILTER (WHERE outcome = 'answered') AS sd_tokens
FROM trials
WHERE study = $study
GROUP BY source, variant, model, test, condition
ORDER BY source, variant, model, test, condition
