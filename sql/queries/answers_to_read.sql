-- The answers of models that the study $study asked single questions or, if it is among $in_turns, in turns that are
-- planned, each with the seed of its run's plan and the settings of its model, behind a row of the table.
SELECT a.rowid AS row_no, a.* EXCLUDE (request, response), r.seed, m.settings
FROM attempts a
LEFT JOIN runs r ON r.run_id = a.run_id
LEFT JOIN run_models m ON m.run_id = a.run_id AND m.model = a.model
WHERE a.study = $study AND a.source IN ('collected', 'simulated') AND a.is_final
  AND (a.game IS NULL OR list_contains($in_turns::VARCHAR[], a.study)) AND a.turn = 1 AND a.rowid > $after
ORDER BY a.rowid
