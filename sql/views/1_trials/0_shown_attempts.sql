-- shown_attempts: every attempt, under the newest version of its study that asks it as it was asked.
-- grain: attempt_id
-- inner: yes
-- note:  an edit makes a new version; what it leaves as it was belongs to both, and is counted once, in the newer one.
--        `is_repeated` answers ended a trial that another collector had ended first (`collect merge`): they are kept,
--        and `is_final` is false of them; so it is of runs that were set aside (set_aside_runs). The version that was at hand when a trial was asked is that of its run. To see some versions or runs only, in
--        the duckdb shell (what belongs to a version that is shown bears its name):
--        SET VARIABLE study_versions = ['201e7c5a90b3'];
--        SET VARIABLE shown_runs = ['20261121T134405Z-rmiat-3f9a1c o3-mini'];     (a run and a model of it)
--        `is_unpriced`: without a known cost, though it has counted tokens, or ended its trial without an HTTP error.
CREATE OR REPLACE VIEW shown_attempts AS
WITH versions AS (
    SELECT study, content, arg_max(study_version, (kept_at, study_version)) AS shown_version
    FROM study_contents
    WHERE getvariable('study_versions') IS NULL
       OR list_contains(getvariable('study_versions')::VARCHAR[], study_version)
    GROUP BY study, content
)
SELECT a.* REPLACE (
           coalesce(v.shown_version, a.study_version) AS study_version,
           a.is_final AND a.is_repeated IS NOT TRUE AND s.run_id IS NULL AS is_final,
           coalesce(a.is_final AND a.is_repeated, false) AS is_repeated
       ),
       a.cost_usd IS NULL AND (a.output_tokens IS NOT NULL OR coalesce(a.http_status, 200) = 200 AND a.is_final
                               AND a.is_repeated IS NOT TRUE AND s.run_id IS NULL) AS is_unpriced
FROM attempts a
LEFT JOIN versions v ON v.study = a.study AND v.content = a.content
LEFT JOIN aside_runs s ON s.run_id = a.run_id
WHERE (getvariable('study_versions') IS NULL
       OR list_contains(getvariable('study_versions')::VARCHAR[], coalesce(v.shown_version, a.study_version)))
  AND (getvariable('shown_runs') IS NULL
       OR list_contains(getvariable('shown_runs')::VARCHAR[], a.run_id || ' ' || a.model));
