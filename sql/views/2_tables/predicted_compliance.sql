-- predicted_compliance: the probability of a valid answer that the model of stage A predicts.
-- grain: call_id, model, test, condition, kind
-- order: source, study, study_version, variant, fit, call_id, kind DESC, models.model_no, model, tests.test_no,
--        test, condition
-- design: forced_choice
-- paper: Table 2
-- note:  the paper's are of kind population; its two columns look exchanged. kind: as in bayes_predictions.
CREATE OR REPLACE VIEW predicted_compliance AS
SELECT p.source, p.study, p.study_version, p.variant, p.model, coalesce(m.label, p.model) AS model_label, p.test,
       coalesce(t.label, p.test) AS test_label, p.condition, p.kind, p.estimate, p.conf_low, p.conf_high,
       p.is_converged, p.verdict, p.fit, p.call_id
FROM bayes_predictions p
LEFT JOIN models m ON m.study = p.study AND m.study_version = p.study_version AND m.model = p.model
LEFT JOIN tests t ON t.study = p.study AND t.study_version = p.study_version AND t.test = p.test
WHERE p.outcome = 'is_valid';
