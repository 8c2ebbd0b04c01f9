-- Runs that one machine set aside and another took back with the same number.
SELECT of_run
FROM (FROM set_aside QUALIFY rank() OVER (PARTITION BY of_run ORDER BY coalesce(note_no, 0) DESC) = 1)
GROUP BY of_run
HAVING count(DISTINCT is_back) = 2
ORDER BY of_run
