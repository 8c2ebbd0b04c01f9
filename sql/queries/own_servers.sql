-- The addresses of servers of one's own that the runs of the study $study asked.
SELECT DISTINCT base_url
FROM run_models
JOIN runs USING (run_id)
WHERE study = $study AND provider IN ('local', 'ollama') AND base_url IS NOT NULL
