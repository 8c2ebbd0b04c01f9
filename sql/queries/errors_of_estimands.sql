-- For each fit of a study that the database holds: over which clusters its errors are, in words, and the smallest and
-- largest degrees of freedom.
SELECT f.fit, any_value(f.engine) AS engine, list(DISTINCT f.optimiser ORDER BY f.optimiser) AS clusters,
       min(e.df) AS low, max(e.df) AS high
FROM fits f
JOIN estimates e USING (call_id)
WHERE f.study = $study AND f.source = $source AND f.variant = $variant AND f.optimiser IS NOT NULL
GROUP BY f.fit
ORDER BY f.fit;
