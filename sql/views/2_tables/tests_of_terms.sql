-- tests_of_terms: does the outcome differ between any of the groups? Of regressions without random effects, by term.
-- grain: call_id, term
-- order: source, study, study_version, variant, fit, models.model_no, model, tests.test_no, test, refusals_removed
--        DESC, measure, call_id, term <> 'all', term
-- note:  Made by `analyze --fit` of a fit of the engine lm (F tests) or logistic, clm, clogit (likelihood ratio tests,
--        `df_residual` is NULL; over clusters Wald's F). The term "all" is the whole model against one without predictors; with several terms each has a row,
--        against the model without it. `share_explained` is partial eta squared, or McFadden's pseudo R squared.
CREATE OR REPLACE VIEW tests_of_terms AS
WITH by_likelihood AS (
    FROM logistic_tests UNION ALL BY NAME FROM clm_tests UNION ALL BY NAME FROM clogit_tests
), of_terms AS (
    SELECT call_id, term, CASE WHEN f_value IS NULL THEN 'chi squared' ELSE 'F' END AS statistic_name,
           coalesce(f_value, chi_squared) AS statistic, df, df_residual, p_value, pseudo_r_squared AS share_explained
    FROM by_likelihood
    UNION ALL
    SELECT call_id, term, 'F', f_value, df, df_residual, p_value, eta_squared
    FROM lm_tests
)
SELECT f.source, f.study, f.study_version, f.variant, f.engine, f.model, coalesce(m.label, f.model) AS model_label, f.test,
       coalesce(t.label, f.test) AS test_label, f.refusals_removed, f.measure, o.term, o.statistic_name, o.statistic, o.df,
       o.df_residual, o.p_value, o.share_explained, f.formula, f.n, f.fit, f.status, f.call_id
FROM of_terms o
JOIN fits f ON f.call_id = o.call_id
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = f.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = f.test;
