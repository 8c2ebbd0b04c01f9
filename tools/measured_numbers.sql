-- Estimates and standard errors of the fits that `make demo` made.
SELECT fits.model, fits.test, fits.engine, estimates.term, estimates.estimate, estimates.std_error
FROM estimates
JOIN fits USING (call_id)
WHERE fits.engine IN ('lme4', 'effect_size')
ORDER BY ALL
