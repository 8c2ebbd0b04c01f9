-- The parts that an export adds to a lake.
SELECT study, variant, model, count(*) AS n_attempts
FROM not_exported
GROUP BY study, variant, model
ORDER BY study, variant, model
