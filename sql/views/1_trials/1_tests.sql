-- tests: the tests of each study, as its runs list them.
-- grain: study, study_version, test
-- reads: runs, study_files, run_tests
-- study: any
-- note:  where runs disagree the latest one wins. `planned` counts the trials of that test in one model.
CREATE OR REPLACE VIEW tests AS
WITH versions AS (
    SELECT run_id, study_version FROM runs
    UNION
    SELECT r.run_id, f.study_version
    FROM runs r
    JOIN study_files f ON f.study = r.study
)
SELECT r.study, v.study_version, t.test, coalesce(t.test_no, t.place) AS test_no,
       coalesce(t.label, t.test) AS label, t.planned
FROM run_tests t
JOIN runs r ON r.run_id = t.run_id
JOIN versions v ON v.run_id = r.run_id
WHERE t.test IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY r.study, v.study_version, t.test
    ORDER BY r.study_version = v.study_version DESC, r.started_at DESC, r.run_id DESC, t.place
) = 1
ORDER BY study, study_version, test_no, test;
