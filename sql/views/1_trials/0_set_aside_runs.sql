-- set_aside_runs: the runs that were set aside, and why: none of their answers counts in any table, fit or figure.
-- grain: run_id
-- reads: set_aside, attempts
-- study: any
-- note:  made by `collect set-aside RUN --reason TEXT`, and taken back by --undo. The answers stay in the table attempts.
CREATE OR REPLACE VIEW set_aside_runs AS
WITH last AS (
    SELECT of_run, study, reason, is_back, noted_at
    FROM set_aside
    QUALIFY row_number() OVER (PARTITION BY of_run ORDER BY noted_at DESC) = 1
)
SELECT l.study, l.of_run AS run_id, l.reason, l.noted_at AS set_aside_at,
       count(*) FILTER (a.is_final AND a.occasion IS NULL) AS n_trials
FROM last l
LEFT JOIN attempts a ON a.run_id = l.of_run
WHERE NOT l.is_back
GROUP BY ALL
ORDER BY l.study, l.of_run;
