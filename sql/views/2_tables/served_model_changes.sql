-- served_model_changes: runs in which the model that answered changed on the way, and when each of them answered.
-- grain: source, study, study_version, variant, run_id, model, provider, requested_model, served_model
-- order: source, study, study_version, variant, run_id, model, provider, requested_model, first_done_at, served_model
-- note:  only runs with more than one served model. An alias may be moved by its provider at any time: look at
--        first_done_at and last_done_at to see whether one followed the other or both answered at once.
CREATE OR REPLACE VIEW served_model_changes AS
SELECT source, study, study_version, variant, run_id, model, provider, requested_model, served_model,
       count(*) AS n_trials,
       min(done_at) AS first_done_at,
       max(done_at) AS last_done_at
FROM trials
WHERE served_model <> ''
GROUP BY source, study, study_version, variant, run_id, model, provider, requested_model, served_model
QUALIFY count(*) OVER (
    PARTITION BY source, study, study_version, variant, run_id, model, provider, requested_model
) > 1;
