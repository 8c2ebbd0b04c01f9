-- studies: what the database knows of each version of a study, as its runs say.
-- grain: study, study_version
-- reads: runs
-- study: any
-- note:  `design` says which views are about it: association, forced_choice, allocation, or one of a package. Where runs
--        disagree (another title) the latest one wins.
CREATE OR REPLACE VIEW studies AS
SELECT study, study_version, design, coalesce(study_title, study) AS title, study_source, study_file,
       started_at AS latest_run_at
FROM runs
QUALIFY row_number() OVER (PARTITION BY study, study_version ORDER BY started_at DESC, run_id DESC) = 1
ORDER BY study, study_version;
