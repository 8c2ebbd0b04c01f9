-- The addresses at which runs have asked each model, by study ($study; NULL: all).
SELECT DISTINCT study, model, provider, requested_model, base_url
FROM run_models
JOIN runs USING (run_id)
WHERE base_url IS NOT NULL AND source = 'collected' AND ($study IS NULL OR study = $study)
ORDER BY study, model, provider, requested_model, base_url
