-- The addresses that the runs of the study $study asked, but for the usual ones of known providers ($public).
SELECT DISTINCT base_url
FROM run_models
JOIN runs USING (run_id)
WHERE study = $study AND base_url IS NOT NULL AND NOT list_contains($public, base_url)
