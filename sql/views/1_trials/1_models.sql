-- models: the models of each study, as its runs list them.
-- grain: study, study_version, model
-- order: study, study_version, model_no, model
-- note:  if runs disagree (another label, other settings) the latest one wins; those of the same version come first.
--        `model_no` is the place in the study, which orders tables; NULL for a model that the study does not name: these
--        come last.
CREATE OR REPLACE VIEW models AS
SELECT r.study, r.study_version, m.model, m.model_no, coalesce(m.label, m.model) AS label,
       m.provider, m.requested_model, m.frame, m.measure, m.planned
FROM run_models m
JOIN run_versions r ON r.run_id = m.run_id
WHERE m.model IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY r.study, r.study_version, m.model ORDER BY r.is_own DESC, r.started_at DESC, r.run_id DESC, m.place
) = 1;
