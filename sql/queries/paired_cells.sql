-- Which models were asked which study, source and variant, with the study's design; the latest run first.
SELECT r.study, r.source, r.variant, m.model, any_value(r.design) AS design
FROM runs r
JOIN run_models m USING (run_id)
GROUP BY r.study, r.source, r.variant, m.model
ORDER BY max(r.started_at) DESC, min(m.place), m.model
