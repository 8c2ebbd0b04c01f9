-- specifications: what each specification of a sensitivity analysis found, the first one of the study next to it.
-- grain: source, study, study_version, variant, model, test, spec
-- note:  one fit of a forced choice has a row for each model and test. Estimates of another unit don't compare:
--        d is in standard deviations of the outcome as it was analysed, NULL for probabilities. `change` is the
--        estimate minus that of the study's first specification, NULL if their units differ, `change_d` that of d.
CREATE OR REPLACE VIEW specifications AS
SELECT s.source, s.study, s.study_version, s.variant, s.model, s.test, s.spec, s.spec_no, s.label, s.estimand, s.unit,
       s.estimate, s.conf_low, s.conf_high, s.p_value, s.p_positive, s.d, s.d_low, s.d_high,
       CASE WHEN s.unit = first.unit THEN s.estimate - first.estimate END AS change, s.d - first.d AS change_d,
       s.n, s.n_left_out, s.n_missing, s.status, s.messages, s.fit, s.engine, s.formula, s.choices, c.versions,
       c.seconds, c.ended_at AS fitted_at
FROM sensitivity s
JOIN calls c USING (call_id)
LEFT JOIN sensitivity first
    ON first.spec_no = 1 AND first.source = s.source AND first.study = s.study
    AND first.study_version = s.study_version AND first.variant = s.variant
    AND first.model IS NOT DISTINCT FROM s.model AND first.test IS NOT DISTINCT FROM s.test
ORDER BY s.source, s.study, s.study_version, s.variant, s.row_no, s.model, s.test, s.spec_no, s.spec;
