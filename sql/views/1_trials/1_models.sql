-- models: the models of each study, as its runs list them.
-- grain: study, study_version, model
-- reads: runs, study_files, run_models
-- study: any
-- note:  where runs disagree (another label, other settings) the latest one wins; runs of the same version come first, for a trial may belong to
--        several. `model_no` is the place in the
--        study, which orders tables; NULL for a model that the study does not name: these come last.
CREATE OR REPLACE VIEW models AS
WITH versions AS (
    SELECT run_id, study_version FROM runs
    UNION
    SELECT r.run_id, f.study_version
    FROM runs r
    JOIN study_files f ON f.study = r.study
)
SELECT r.study, v.study_version, m.model, m.model_no, coalesce(m.label, m.model) AS label,
       m.provider, m.requested_model, m.frame, m.measure, m.planned
FROM run_models m
JOIN runs r ON r.run_id = m.run_id
JOIN versions v ON v.run_id = r.run_id
WHERE m.model IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY r.study, v.study_version, m.model
    ORDER BY r.study_version = v.study_version DESC, r.started_at DESC, r.run_id DESC, m.place
) = 1
ORDER BY study, study_version, model_no, model;
