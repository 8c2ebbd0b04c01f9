-- permutation_values: each refit of a permutation test in each cell; number 0 is the data as observed.
-- grain: permutation_id, number, model, test
-- note:  delta_p is a difference of probabilities and s one of log odds, both of a median item (random effects of 0);
--        delta_p_items is that of probabilities averaged over the items that were asked. Of brms they are the
--        posterior's means, next to its sd and their Monte Carlo standard errors. A failed refit has its row and no
--        values. Of an association study: `difference` of the conditions in units of the outcome, and p_value of the
--        engine.
CREATE OR REPLACE VIEW permutation_values AS
SELECT p.source, p.study, p.study_version, p.variant, p.fit, p.engine, r.number,
       v.model, coalesce(m.label, v.model) AS model_label, m.model_no,
       v.test, coalesce(d.label, v.test) AS test_label, d.test_no AS test_no,
       v.delta_p, v.delta_p_sd, v.delta_p_mcse, v.delta_p_items, v.delta_p_items_sd, v.delta_p_items_mcse,
       v.s, v.s_sd, v.s_mcse, v.rhat, v.ess_bulk, v.is_separated, v.difference, v.p_value,
       k.status, r.n_divergent, r.n_max_treedepth, r.is_singular, k.messages, r.seed, k.seconds, p.permutation_id
FROM permutation_refits r
JOIN permutations p ON p.permutation_id = r.permutation_id
JOIN calls test ON test.call_id = p.call_id
JOIN calls k ON k.call_id = r.call_id
LEFT JOIN permutation_draws v ON v.call_id = r.call_id AND v.number = r.number
LEFT JOIN models m ON m.study = p.study AND m.study_version = p.study_version AND m.model = v.model
LEFT JOIN tests d ON d.study = p.study AND d.study_version = p.study_version AND d.test = v.test
ORDER BY p.source, p.study, p.study_version, p.variant, test.ended_at, p.permutation_id, r.number,
         m.model_no, v.model, d.test_no, v.test;
