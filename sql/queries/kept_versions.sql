-- The versions (JSON) of R and its packages that made what is kept of a study.
SELECT DISTINCT c.versions
FROM calls c
WHERE c.versions IS NOT NULL
  AND (c.call_id IN (SELECT call_id FROM fit_cells WHERE study = $study)
       OR c.call_id IN (SELECT call_id FROM permutations WHERE study = $study)
       OR c.call_id IN (SELECT call_id FROM calibrations WHERE study = $study)
       OR c.call_id IN (SELECT call_id FROM sensitivity WHERE study = $study)
       OR c.call_id IN (SELECT call_id FROM stm_searches WHERE study = $study)
       OR c.call_id IN (SELECT call_id FROM game_indices WHERE study = $study)
       OR c.call_id IN (SELECT call_id FROM game_differences WHERE study = $study))
ORDER BY c.versions
