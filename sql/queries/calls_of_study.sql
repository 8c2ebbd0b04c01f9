-- The calls of R whose kept results are of the study $study: those whose rows say so, the refits of its permutation
-- tests, the data sets of its calibrations, and what chance gives to its games.
SELECT call_id FROM fit_cells WHERE study = $study
UNION SELECT call_id FROM stm_searches WHERE study = $study
UNION SELECT call_id FROM permutations WHERE study = $study
UNION SELECT r.call_id FROM permutation_refits r JOIN permutations p USING (permutation_id) WHERE p.study = $study
UNION SELECT call_id FROM calibrations WHERE study = $study
UNION SELECT f.call_id FROM calibration_fits f JOIN calibrations c USING (calibration_id) WHERE c.study = $study
UNION SELECT call_id FROM sensitivity WHERE study = $study
UNION SELECT call_id FROM game_indices WHERE study = $study
UNION SELECT level_call_id FROM game_indices WHERE study = $study
UNION SELECT call_id FROM retests WHERE study = $study
UNION SELECT call_id FROM game_differences WHERE study = $study
UNION SELECT a.call_id FROM game_adjusted a JOIN game_differences d ON d.call_id = a.difference_id WHERE d.study = $study
ORDER BY ALL
