-- bayes_contrasts: how much more probable (or larger) an outcome is in the first condition than in the second.
-- grain: call_id, model, test, kind, scale
-- order: source, study, study_version, variant, fit, call_id, kind DESC, scale, model, test
-- note:  scale delta_p: a difference of probabilities; s: the same in log odds; difference: of means of a number.
--        p_positive: the posterior probability that it is above 0. std_error: standard deviation of the posterior.
--        mde: what a study with such posteriors finds (95 % leave 0 out) in 80 %. kind: as in bayes_predictions.
CREATE OR REPLACE VIEW bayes_contrasts AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, regexp_extract(m.formula, '^\s*(\w+)\s*~', 1) AS outcome,
       coalesce(c.model, f.model) AS model, coalesce(c.test, f.test) AS test, c.kind, c.scale, c.estimate, c.median,
       c.std_error, c.conf_low, c.conf_high, c.p_positive, c.mde, m.is_converged, m.verdict, f.call_id
FROM brms_contrasts c
JOIN brms_models m ON m.call_id = c.call_id
JOIN fits f ON f.call_id = c.call_id;
