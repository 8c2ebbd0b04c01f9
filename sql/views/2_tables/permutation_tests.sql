-- permutation_tests: what was observed in each cell next to its null distribution (`analyze permute`).
-- grain: permutation_id, model, test, kind, scale
-- note:  compare `observed` with `null_mean`, not with 0: under treatment coding the priors alone give the reference
--        cell a difference. `observed` was fitted with the same settings as the refits; observed_main_fit is that of
--        the study's own fit of the same rows, NULL if there is none. p_one_sided = (1 + n_as_large) / (1 + n): a
--        difference as large as the observed one or larger; p_two_sided is twice the smaller tail. p_low and p_high:
--        95 %, by Clopper and Pearson. n leaves failed refits out; p_if_failed_large counts each of them as one as
--        large. noise_share: of the null's variance, what short chains add. Of an association study the scale is
--        'difference': of the conditions, in units of the outcome; p_engine is the p of Welch's test or of lme4 as
--        observed, false_positives how often it is below .05 where words are dealt to groups at random.
CREATE OR REPLACE VIEW permutation_tests AS
SELECT p.source, p.study, p.study_version, p.variant, p.fit, p.engine,
       c.model, coalesce(m.label, c.model) AS model_label, m.model_no,
       c.test, coalesce(d.label, c.test) AS test_label, d.test_no AS test_no,
       c.kind, c.scale, c.observed, f.estimate AS observed_main_fit,
       c.null_mean, c.null_sd, c.null_low, c.null_median, c.null_high,
       c.n, c.n_as_large, c.p_one_sided, c.p_low, c.p_high, c.p_two_sided, c.p_two_sided_low, c.p_two_sided_high,
       p.n_permutations, c.n_failed, c.p_if_failed_large, c.n_divergent, c.n_unconverged, c.n_warned, c.n_separated,
       c.noise_share, c.p_engine, c.false_positives, c.false_positives_low, c.false_positives_high, p.contrast, p.unit, p.within, p.n_rows, p.n_units, p.n_one_condition, p.seed, p.settings, p.formula,
       p.rows_hash AS data_hash, k.versions, p.refit_seconds AS seconds, k.ended_at AS finished_at, p.permutation_id
FROM permutation_cells c
JOIN permutations p ON p.call_id = c.call_id
JOIN calls k ON k.call_id = c.call_id
LEFT JOIN permutation_main_fits f
    ON f.permutation_id = p.permutation_id AND f.model IS NOT DISTINCT FROM c.model
    AND f.test IS NOT DISTINCT FROM c.test AND f.kind = c.kind AND f.scale = c.scale
LEFT JOIN models m ON m.study = p.study AND m.study_version = p.study_version AND m.model = c.model
LEFT JOIN tests d ON d.study = p.study AND d.study_version = p.study_version AND d.test = c.test
ORDER BY p.source, p.study, p.study_version, p.variant, k.ended_at, p.permutation_id,
         c.scale, c.kind DESC, m.model_no, c.model, d.test_no, c.test;
