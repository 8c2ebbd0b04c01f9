-- trials_to_pair: each trial of a study, of every occasion, with what was asked and how it ended; of one source, or of
-- all where it is NULL.
SELECT trial_id, coalesce(first_trial_id, trial_id) AS first_trial_id, occasion, source, study_version, variant, model,
       provider, requested_model, served_model, run_id, test, condition, item, wording, prompt_hash, outcome,
       coalesce(is_refusal, false) AS is_refusal, output_tokens, cost_usd, done_at
FROM all_trials
WHERE study = $study AND NOT is_left_out AND ($source IS NULL OR source = $source)
ORDER BY source, study_version, variant, model, occasion, test, condition, item, wording, trial_id
