-- duplicate_finals: trials that were ended more than once. This table must be empty; a row is an error to report.
-- grain: trial_id
-- reads: shown_attempts
-- study: any
-- note:  `trials` keeps every final attempt (telling them apart costs thirty times as much as reading them), so a
--        trial listed here is counted `n_finals` times in all other tables.
CREATE OR REPLACE VIEW duplicate_finals AS
WITH doubled AS (
    SELECT trial_id
    FROM shown_attempts
    WHERE is_final
    GROUP BY trial_id
    HAVING count(*) > 1
)
SELECT min(source) AS source, min(study) AS study, min(study_version) AS study_version, min(variant) AS variant,
       min(model) AS model, min(test) AS test, min(condition) AS condition, min(item) AS item, min(wording) AS wording,
       trial_id,
       count(*) AS n_finals,
       count(DISTINCT run_id) AS n_runs,
       string_agg(attempt_id, ', ' ORDER BY attempt_id) AS attempt_ids
FROM shown_attempts
SEMI JOIN doubled USING (trial_id)
WHERE is_final
GROUP BY trial_id
ORDER BY source, study, study_version, variant, model, test, condition, trial_id;
