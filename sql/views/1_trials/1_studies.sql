-- studies: what the database knows of each version of a study, as its runs say.
-- grain: sorted by study, study_version
-- note:  `design` says which views are about it: association, forced_choice, pairing, allocation, or one of a package.
--        Where runs disagree (another title) the latest one wins. The text itself is in study_files.
CREATE OR REPLACE VIEW studies AS
SELECT v.study, v.study_version, r.design, coalesce(r.study_title, r.study) AS title, r.study_source, r.study_file,
       coalesce(r.refusal_rule, 'outcome') AS refusal_rule,
       r.started_at AS latest_run_at
FROM run_versions v
JOIN runs r ON r.run_id = v.run_id
QUALIFY row_number() OVER (
    PARTITION BY v.study, v.study_version ORDER BY v.is_own DESC, r.started_at DESC, r.run_id DESC
) = 1;
