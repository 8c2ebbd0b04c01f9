-- corrected_estimates: what coded texts say by the coder's codes taken as truth, by people alone, and corrected.
-- grain: call_id, term, method
-- design: coding
-- note:  made by `analyze --fit dsl` (with an --estimator), `prevalence` and `ppi`. `test` is the code. `method`: `coder`
--        takes the model's codes as truth, `people` are their texts alone; `corrected` is the one to report. Ratios
--        have the standard error of their logarithm.
CREATE OR REPLACE VIEW corrected_estimates AS
WITH methods AS (FROM dsl_corrections UNION ALL BY NAME FROM ppi_corrections)
SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, c.term, c.method, c.estimate, c.conf_low,
       c.conf_high, c.p_value, c.std_error, c.n, f.fit, f.call_id
FROM methods c
JOIN fits f ON f.call_id = c.call_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, f.model, f.test, f.call_id, c.term,
         list_position(['coder', 'people', 'corrected'], c.method);
