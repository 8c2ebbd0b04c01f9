-- What a pilot says of each model: how many answers, how large they were, and what they cost.
SELECT source, variant, model, count(*) AS n, count(*) FILTER (WHERE outcome = 'answered') AS n_answered,
       avg(input_tokens) AS mean_input_tokens, avg(output_tokens) AS mean_output_tokens, avg(cost_usd) AS mean_cost_usd,
       count(cost_usd) AS n_priced, list_sort(list(DISTINCT run_id)) AS runs
FROM trials
WHERE study = $study
GROUP BY source, variant, model
ORDER BY source, variant, model
