-- The imported runs of one study that are not set aside, with their settings. Parameters: the study, the source.
SELECT run_id, settings
FROM runs
ANTI JOIN aside_runs USING (run_id)
WHERE study = ? AND source = ?
