-- How the collected trials of a study ended, by variant, model and condition; of one version, if one is given, and of
-- the occasion on which these runs asked a model, else of the first.
SELECT variant, model, condition, outcome, count(*)
FROM all_trials
LEFT JOIN (SELECT DISTINCT model, occasion AS asked FROM run_models WHERE list_contains($runs, run_id)) USING (model)
WHERE study = $study AND source = 'collected' AND ($version IS NULL OR study_version = $version)
  AND occasion = coalesce(asked, 1)
GROUP BY ALL
ORDER BY ALL
