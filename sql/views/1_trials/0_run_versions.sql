-- run_versions: the versions of its study that each run tells of: models, tests and labels of all are those of its runs.
-- grain: sorted by run_id, study_version
-- inner: yes
-- note:  an edit may make a new version for which no model had to be asked, because all it asks has its answers (see
--        shown_attempts). `is_own` is true of the version that the run itself had.
CREATE OR REPLACE VIEW run_versions AS
SELECT run_id, study, study_version, true AS is_own, started_at
FROM runs
UNION ALL
SELECT DISTINCT r.run_id, r.study, f.study_version, false, r.started_at
FROM runs r
JOIN study_files f ON f.study = r.study AND f.study_version <> r.study_version;
