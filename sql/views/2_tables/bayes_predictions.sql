-- bayes_predictions: what a Bayesian model predicts, cell by cell: a probability, the mean of a number, the median of counts.
-- grain: call_id, model, test, condition, kind
-- order: source, study, study_version, variant, fit, call_id, kind DESC, model, test, condition
-- note:  kind population: for a median item (effect 0), as the paper has it; item_averaged: the mean over the items
--        that were asked, which is what a share of answers estimates. The two differ much if items do. 95 % intervals.
--        test and condition are NULL if a study has none.
CREATE OR REPLACE VIEW bayes_predictions AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, regexp_extract(m.formula, '^\s*(\w+)\s*~', 1) AS outcome,
       coalesce(p.model, f.model) AS model, coalesce(p.test, f.test) AS test, p.condition, p.kind, p.estimate,
       p.conf_low, p.conf_high, m.is_converged, m.verdict, f.call_id
FROM brms_predictions p
JOIN brms_models m ON m.call_id = p.call_id
JOIN fits f ON f.call_id = p.call_id;
