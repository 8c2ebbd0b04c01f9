-- version_differences: what each change of a text does against the baseline, and beyond its placebos.
-- grain: call_id, term
-- note:  made by `analyze --fit paired` (`paired_models`: over all models). `estimate` is the mean over materials of the
--        difference from the baseline, with its 95 % interval over them; "… - placebo" is what it is beyond the mean
--        of the placebos, over models and materials that have both. `mean_absolute` is the mean absolute difference,
--        `shuffled_mean` (95 %: `shuffled_low` to `shuffled_high`) what the same repetitions give when those of
--        version and baseline are shuffled. `finding` is about the `bound` that the study names, by two one-sided t
--        tests (`p_equivalence`); NULL without a bound.
CREATE OR REPLACE VIEW version_differences AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, f.refusals_removed, v.attribute, v.level, v.term,
       e.estimate, e.conf_low, e.conf_high, e.p_value, v.p_adjusted, v.mean_absolute, v.shuffled_mean, v.shuffled_low,
       v.shuffled_high, v.bound, v.p_equivalence, v.finding, v.n_materials, v.n_pairs, f.fit, f.call_id
FROM paired_versions v
JOIN fits f ON f.call_id = v.call_id
JOIN estimates e ON e.call_id = v.call_id AND e.term = v.term
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = f.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = f.test
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, m.model_no, f.model, t.test_no, f.test, f.call_id,
         v.term_no;
