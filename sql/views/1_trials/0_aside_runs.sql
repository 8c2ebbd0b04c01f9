-- aside_runs: runs that are excluded from all results, by the last note about each.
-- grain: run_id
-- order: study, run_id
-- inner: yes
-- note:  see set_aside_runs, which has the numbers of their trials, too. Notes are numbered, for clocks can't order them;
--        of two machines' with one number the one that sets aside wins, and both are named.
CREATE OR REPLACE VIEW aside_runs AS
WITH last AS (
    SELECT of_run, study, is_back, noted_at,
           reason || CASE WHEN is_back THEN ' (taken back elsewhere at the same time)' ELSE '' END AS reason
    FROM set_aside
    QUALIFY rank() OVER (PARTITION BY of_run ORDER BY coalesce(note_no, 0) DESC) = 1
)
SELECT study, of_run AS run_id, string_agg(DISTINCT reason, ' / ' ORDER BY reason) AS reason,
       max(noted_at) FILTER (NOT is_back) AS set_aside_at
FROM last
GROUP BY study, of_run
HAVING bool_or(NOT is_back);
