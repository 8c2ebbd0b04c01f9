-- By run and model, how many attempts had which outcome, and whether they ended their trial.
SELECT run_id, model, outcome, is_final, count(*) AS n FROM attempts GROUP BY ALL ORDER BY ALL
