-- duplicate_finals: trials that were ended more than once, by two collectors say that were merged.
-- grain: trial_id
-- order: source, study, study_version, variant, model, test, condition, trial_id
-- note:  `n_counted` is how often all other tables count it: once if databases were merged, from the first by time.
--        More is an error to report. `trials` keeps every final attempt of one database, for telling them apart costs
--        ten times as much as reading them. Hashes are compared first: ten million ids take gigabytes.
CREATE OR REPLACE VIEW duplicate_finals AS
WITH doubled AS (
    SELECT hash(trial_id) AS code
    FROM shown_attempts
    WHERE is_final OR is_repeated
    GROUP BY code
    HAVING count(*) > 1
)
SELECT min(source) AS source, min(study) AS study, min(study_version) AS study_version, min(variant) AS variant,
       min(model) AS model, min(test) AS test, min(condition) AS condition, min(item) AS item, min(wording) AS wording,
       trial_id,
       count(*) AS n_finals,
       count(*) FILTER (is_final) AS n_counted,
       count(DISTINCT run_id) AS n_runs,
       string_agg(attempt_id, ', ' ORDER BY attempt_id) AS attempt_ids
FROM shown_attempts
SEMI JOIN doubled ON code = hash(trial_id)
WHERE is_final OR is_repeated
GROUP BY trial_id
HAVING count(*) > 1;
