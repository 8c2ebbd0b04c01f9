-- bayes_estimates: the coefficients of each Bayesian model, and the spread of its random effects.
-- grain: call_id, term
-- note:  posterior mean, standard deviation and 95 % interval, in log odds (of token counts: in logarithms, of a
--        gaussian in tokens). The intercept is that of the reference levels. `verdict` says what the chains are worth.
CREATE OR REPLACE VIEW bayes_estimates AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, f.fit, e.term, e.estimate, e.std_error,
       e.conf_low, e.conf_high, m.is_converged, m.verdict, f.call_id
FROM estimates e
JOIN brms_models m ON m.call_id = e.call_id
JOIN fits f ON f.call_id = e.call_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, f.model, f.test, f.call_id, e.term_no;
