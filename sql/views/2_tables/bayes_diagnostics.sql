-- bayes_diagnostics: how well each Bayesian model was sampled, in numbers and in words.
-- grain: fit_id
-- reads: fits, brms_models, brms_loo
-- study: any
-- note:  `verdict` says whether the chains agree (R-hat, effective sample sizes, divergences, tree depth, E-BFMI). LOO is
--        approximate where n_high_pareto_k is above 0. `file` and `draws_file` lie in NAME.duckdb.models beside the
--        database; R's read_fit() and Python's read_draws() open them. model and test NULL: of all together.
CREATE OR REPLACE VIEW bayes_diagnostics AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, f.fit, f.formula, m.outcome, m.reference,
       m.dropped, f.status, m.is_converged, m.verdict, m.rhat_max, m.ess_bulk_min, m.ess_tail_min, m.n_divergent,
       m.n_max_treedepth, m.ebfmi_min, f.n, f.n_missing, f.n_groups, m.priors, m.n_chains, m.n_iterations, m.n_warmup,
       m.n_draws, m.adapt_delta, m.seed, l.elpd_loo, l.elpd_loo_se, l.p_loo, l.p_loo_se, l.looic, l.looic_se,
       l.n_high_pareto_k, l.pareto_k_max, m.sampling_s, f.seconds, f.versions, f.fitted_at, m.file, m.draws_file,
       f.fit_id
FROM brms_models m
JOIN fits f ON f.fit_id = m.fit_id
LEFT JOIN brms_loo l ON l.fit_id = m.fit_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, f.model, f.test, f.fit_id;
