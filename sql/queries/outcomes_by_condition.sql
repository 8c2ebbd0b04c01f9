-- How the collected trials of a study ended, by variant, model and condition; of one version, if one is given.
SELECT variant, model, condition, outcome, count(*)
FROM trials
WHERE study = $study AND source = 'collected' AND ($version IS NULL OR study_version = $version)
GROUP BY ALL
ORDER BY ALL
