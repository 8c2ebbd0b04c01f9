-- What some runs have brought, by study, version, variant and seed: attempts, trials that they ended, and how many of these
-- don't count, for another collector had ended them first.
SELECT r.study, r.study_version, r.variant, r.seed, count(DISTINCT r.run_id) AS runs, count(a.attempt_id) AS attempts,
       count(*) FILTER (a.is_final) AS trials, count(*) FILTER (a.is_final AND a.is_repeated) AS repeated
FROM runs r
LEFT JOIN attempts a ON a.run_id = r.run_id
WHERE list_contains($runs::VARCHAR[], r.run_id)
GROUP BY ALL
ORDER BY ALL
