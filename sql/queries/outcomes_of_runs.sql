-- By run, shown version and model: how many attempts had which outcome, and whether they ended their trial.
SELECT run_id, study_version, model, outcome, is_final, count(*) AS n FROM shown_attempts GROUP BY ALL ORDER BY ALL
