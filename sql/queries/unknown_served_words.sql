-- By model and name that answered in some runs: the words of it whose meaning is not known, and how many trials.
SELECT model, requested_model, served_model, any_value(unknown_words) AS unknown_words, count(*) AS n_trials
FROM attempts
JOIN served_names USING (requested_model, served_model)
WHERE is_final AND list_contains($runs, run_id) AND provider <> 'azure' AND NOT is_another AND unknown_words IS NOT NULL
GROUP BY model, requested_model, served_model
ORDER BY model, served_model
