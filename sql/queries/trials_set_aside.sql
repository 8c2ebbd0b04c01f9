-- How many trials of a run are set aside now, or count (`is_back`). Parameters: the run, `is_back`.
SELECT count(*)
FROM attempts a
LEFT JOIN aside_runs s USING (run_id)
WHERE a.run_id = $run AND a.is_final AND (s.run_id IS NULL) = $is_back AND NOT ($is_back AND coalesce(a.is_repeated, false))
