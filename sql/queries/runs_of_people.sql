-- The runs of people of one study that are not set aside, with their settings. Parameter: the study.
SELECT run_id, settings
FROM runs
ANTI JOIN aside_runs USING (run_id)
WHERE source = 'human' AND study = ?
