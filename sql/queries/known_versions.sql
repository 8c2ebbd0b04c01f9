-- The versions of each study that a database knows, by its runs and by the texts that it keeps; the newest last.
SELECT study, study_version
FROM (
    SELECT study, study_version, started_at AS known_at, false AS is_kept FROM runs
    UNION ALL
    SELECT study, study_version, kept_at, true FROM study_contents
)
GROUP BY study, study_version
ORDER BY
    study, bool_or(is_kept), coalesce(max(known_at) FILTER (WHERE is_kept), max(known_at)), study_version
