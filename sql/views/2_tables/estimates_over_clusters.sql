-- estimates_over_clusters: coefficients of regressions, standard errors of independent rows next to those over clusters.
-- grain: call_id, term
-- note:  Made by `analyze --fit` of a fit of the engine logistic, lm, clm or clogit that names a `cluster` (stereotypes,
--        say). `std_error` and `p_value` take rows as independent, as papers print them; `_clustered` ones hold over
--        other clusters than the `n_clusters` that were asked, by t with `df_clustered`. `method_clustered` says how:
--        HC1 is Stata's correction, CR2 the bias-reduced one for few clusters (Satterthwaite's df), "two ways" of two
--        kinds of clusters, robust of a likelihood.
CREATE OR REPLACE VIEW estimates_over_clusters AS
WITH clustered AS (
    FROM logistic_clustered UNION ALL BY NAME FROM lm_clustered
    UNION ALL BY NAME FROM clm_clustered UNION ALL BY NAME FROM clogit_clustered
)
SELECT f.source, f.study, f.study_version, f.variant, f.engine, f.model, coalesce(m.label, f.model) AS model_label, f.test,
       coalesce(t.label, f.test) AS test_label, f.refusals_removed, f.measure, c.term, c.estimate, c.std_error_rows AS std_error,
       c.p_value_rows AS p_value, c.conf_low_rows AS conf_low, c.conf_high_rows AS conf_high, c.std_error AS std_error_clustered, c.df AS df_clustered,
       c.p_value AS p_value_clustered, c.conf_low AS conf_low_clustered, c.conf_high AS conf_high_clustered,
       c.std_error / c.std_error_rows AS std_error_ratio, c.clusters, c.n_clusters,
       c.method AS method_clustered, f.formula, f.n, f.fit, f.status, f.call_id
FROM clustered c
JOIN fits f ON f.call_id = c.call_id
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = f.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = f.test
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, m.model_no, f.model, t.test_no, f.test,
         f.refusals_removed DESC, f.measure, f.call_id, c.term_no;
