-- served_models: which model was asked for, and which one says it answered.
-- grain: sorted by source, study, study_version, variant, model, provider, requested_model, served_model
-- note:  if a model of another family or version answered, or another snapshot than was asked for by its date, the
--        trials are left out of the tables of the study (`n_left_out`; how names are compared: served_names). Snapshots
--        behind an alias stay in, each in a row here: first_done_at and last_done_at say from when to when each answered.
--        Imports don't know (NULL).
CREATE OR REPLACE VIEW served_models AS
SELECT source, study, study_version, variant, model, provider, requested_model, served_model,
       count(*) AS n_trials,
       any_value(served_model_differs) AS served_model_differs,
       any_value(snapshot_was_asked) AS snapshot_was_asked,
       count(*) FILTER (is_left_out) AS n_left_out,
       min(done_at) AS first_done_at,
       max(done_at) AS last_done_at
FROM trials
GROUP BY source, study, study_version, variant, model, provider, requested_model, served_model;
