-- Stored responses to single questions, and to those of the studies $in_turns, whose turns are planned, with the trial
-- and how its model was asked, behind a row of the table.
SELECT a.rowid AS row_no, a.* EXCLUDE (request), m.settings, m.measure
FROM attempts a
LEFT JOIN run_models m ON m.run_id = a.run_id AND m.model = a.model
WHERE a.source = 'collected' AND a.response IS NOT NULL AND a.http_status IS NOT NULL
  AND (a.game IS NULL OR list_contains($in_turns::VARCHAR[], a.study)) AND a.turn = 1 AND a.rowid > $after
ORDER BY a.rowid
