-- aside_runs: runs that are excluded from all results, by the last line about each.
-- grain: run_id
-- order: study, run_id
-- reads: set_aside
-- study: any
-- note:  see set_aside_runs, which has the numbers of their trials, too.
CREATE OR REPLACE VIEW aside_runs AS
WITH last AS (
    SELECT of_run, study, reason, is_back, noted_at
    FROM set_aside
    QUALIFY row_number() OVER (PARTITION BY of_run ORDER BY noted_at DESC) = 1
)
SELECT study, of_run AS run_id, reason, noted_at AS set_aside_at
FROM last
WHERE NOT is_back;
