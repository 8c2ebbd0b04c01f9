-- outcome_counts: what came of the trials of each condition, and how many attempts failed on the way.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- note:  truncated, filtered, rejected and failed attempts cut the dependent variable, so they are counted by condition.
--        A failed attempt ends no trial; `n_trials` is the sum of the six outcomes. A rejected
--        trial was declined by its provider in two calls, in words that say no reason: neither a refusal nor a filter.
CREATE OR REPLACE VIEW outcome_counts AS
SELECT source, study, study_version, variant, model, test, condition,
       count(*) FILTER (is_final) AS n_trials,
       count(*) FILTER (is_final AND outcome = 'answered') AS n_answered,
       count(*) FILTER (is_final AND outcome = 'refused') AS n_refused,
       count(*) FILTER (is_final AND outcome = 'filtered') AS n_filtered,
       count(*) FILTER (is_final AND outcome = 'truncated') AS n_truncated,
       count(*) FILTER (is_final AND outcome = 'malformed') AS n_malformed,
       count(*) FILTER (is_final AND outcome = 'rejected') AS n_rejected,
       count(*) FILTER (outcome = 'failed') AS n_failed_attempts
FROM shown_attempts
WHERE occasion IS NULL
GROUP BY source, study, study_version, variant, model, test, condition;
