-- What the runs of each model say of shards, in the order in which they were begun.
SELECT r.source, r.study, r.study_version, r.variant, m.model, r.settings
FROM runs r
JOIN run_models m USING (run_id)
ORDER BY r.started_at, r.run_id;
