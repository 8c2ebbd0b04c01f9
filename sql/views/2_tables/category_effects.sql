-- category_effects: what each level of a factor does to the probability of each point of a scale.
-- grain: call_id, term, category
-- note:  Made by `analyze --fit` of a fit of the engine clm. `estimate` is a difference of probabilities (a share, 0 to 1)
--        from the level `reference`, averaged over the rows as they are otherwise, with its 95 % interval (over
--        clusters, where the fit names one kind of them). The differences of one level add up to 0.
CREATE OR REPLACE VIEW category_effects AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, coalesce(m.label, f.model) AS model_label, f.test,
       coalesce(t.label, f.test) AS test_label, f.refusals_removed, f.measure, c.term, c.attribute, c.level,
       c.reference, c.category, c.estimate, c.std_error, c.conf_low, c.conf_high, f.formula, f.n, f.fit, f.status,
       f.call_id
FROM clm_categories c
JOIN fits f ON f.call_id = c.call_id
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = f.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = f.test
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, m.model_no, f.model, t.test_no, f.test,
         f.refusals_removed DESC, f.measure, f.call_id, c.term_no;
