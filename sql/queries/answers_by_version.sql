-- How many answers each version of the study $study has.
SELECT study_version, sum(n_answers)::BIGINT FROM version_answers WHERE study = $study GROUP BY study_version
