-- condition_contrasts: how much less consistent valid answers are in the second condition, as the model of stage B has it.
-- grain: call_id, model, test, kind
-- order: source, study, study_version, variant, fit, call_id, kind DESC, models.model_no, model, tests.test_no,
--        test
-- design: forced_choice
-- paper: Table 1
-- note:  delta_p: P(consistent) in the study's first condition minus that in the second one; s: the same in log odds;
--        each with its 95 % interval. The paper's are of kind population. Compare them with the null of `analyze
--        permute`, which is not centred on 0. mde: the delta_p that such a study finds in 80 % (as in bayes_contrasts).
--        kind: as in bayes_predictions.
CREATE OR REPLACE VIEW condition_contrasts AS
WITH wide AS (
    SELECT source, study, study_version, variant, fit, call_id, model, test, kind, is_converged, verdict,
           max(estimate) FILTER (scale = 'delta_p') AS delta_p,
           max(conf_low) FILTER (scale = 'delta_p') AS delta_p_conf_low,
           max(conf_high) FILTER (scale = 'delta_p') AS delta_p_conf_high,
           max(p_positive) FILTER (scale = 'delta_p') AS p_positive,
           max(mde) FILTER (scale = 'delta_p') AS mde,
           max(estimate) FILTER (scale = 's') AS s,
           max(conf_low) FILTER (scale = 's') AS s_conf_low,
           max(conf_high) FILTER (scale = 's') AS s_conf_high
    FROM bayes_contrasts
    WHERE outcome = 'is_consistent'
    GROUP BY ALL
)
SELECT w.source, w.study, w.study_version, w.variant, w.model, coalesce(m.label, w.model) AS model_label, w.test,
       coalesce(t.label, w.test) AS test_label, w.kind, w.delta_p, w.delta_p_conf_low, w.delta_p_conf_high,
       w.p_positive, w.mde, w.s, w.s_conf_low, w.s_conf_high, w.is_converged, w.verdict, w.fit, w.call_id
FROM wide w
LEFT JOIN models m ON m.study = w.study AND m.study_version = w.study_version AND m.model = w.model
LEFT JOIN tests t ON t.study = w.study AND t.study_version = w.study_version AND t.test = w.test;
