-- What is stored of the answers of some runs, by model and outcome: final ones (n), and what all attempts cost.
SELECT model, outcome, count(*) FILTER (WHERE is_final) AS n, sum(cost_usd) AS cost_usd
FROM attempts
WHERE run_id IN (SELECT unnest($run_ids))
GROUP BY ALL
ORDER BY ALL
