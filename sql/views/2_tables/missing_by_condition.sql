-- missing_by_condition: what the answers without a valid choice are, in each test and condition.
-- grain: sorted by source, study, study_version, variant, model, test, condition, structured_output
-- design: forced_choice
-- note:  the five kinds add up to `n_invalid`: refused in words or by the provider, filtered, cut off, malformed (both
--        letters, neither, broken JSON), rejected (declined by the provider for no known reason). What failed for good
--        is no answer: outcome_counts counts its attempts.
CREATE OR REPLACE VIEW missing_by_condition AS
SELECT source, study, study_version, variant, model, test, condition, structured_output,
       count(*) AS n_trials,
       count(*) FILTER (NOT is_valid) AS n_invalid,
       100 * avg((NOT is_valid)::INTEGER) AS invalid_percent,
       count(*) FILTER (outcome = 'refused') AS n_refused,
       count(*) FILTER (outcome = 'filtered') AS n_filtered,
       count(*) FILTER (outcome = 'truncated') AS n_truncated,
       count(*) FILTER (outcome = 'malformed') AS n_malformed,
       count(*) FILTER (outcome = 'rejected') AS n_rejected
FROM forced_choice_answer_rows
GROUP BY source, study, study_version, variant, model, test, condition, structured_output;
