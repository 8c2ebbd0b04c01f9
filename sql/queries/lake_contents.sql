-- What a lake holds, for its README: attempts, and trials with a final one, of each study, variant, model and source.
SELECT study, variant, model, source, count(*) AS n_attempts, count(*) FILTER (is_final) AS n_final
FROM attempts
GROUP BY study, variant, model, source
ORDER BY study, variant, model, source
