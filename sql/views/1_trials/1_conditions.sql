-- conditions: the conditions of each study in its order (blocks of a forced choice, classes of a game).
-- grain: study, study_version, condition
-- order: study, study_version, condition_no, condition
-- note:  number 1 is the reference level of every fit and difference. Where runs disagree the latest one wins.
CREATE OR REPLACE VIEW conditions AS
SELECT r.study, r.study_version, c.condition, coalesce(c.condition_no, c.place) AS condition_no,
       coalesce(c.label, c.condition) AS label
FROM run_conditions c
JOIN run_versions r ON r.run_id = c.run_id
WHERE c.condition IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY r.study, r.study_version, c.condition
    ORDER BY r.is_own DESC, r.started_at DESC, r.run_id DESC, c.place
) = 1;
