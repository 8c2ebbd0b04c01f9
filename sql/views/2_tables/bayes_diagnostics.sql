-- bayes_diagnostics: how well each Bayesian model was sampled, in numbers and in words.
-- grain: call_id
-- order: source, study, study_version, variant, fit, model, test, call_id
-- note:  `verdict` says whether the chains agree (R-hat, effective sample sizes, divergences, tree depth, E-BFMI). LOO is
--        approximate if n_bad_pareto_k is above 0. `file` and `draws_file` lie in NAME.duckdb.models next to the
--        database; R's read_fit() and Python's read_draws() open them. model and test NULL: of all together.
CREATE OR REPLACE VIEW bayes_diagnostics AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, f.fit, m.formula,
       regexp_extract(m.formula, '^\s*(\w+)\s*~', 1) AS outcome, m.reference, f.status, m.is_converged, m.verdict,
       m.max_rhat, m.min_ess_bulk, m.min_ess_tail, m.n_divergent, m.n_max_treedepth, m.min_ebfmi, m.n, f.n_missing,
       f.n_groups, m.priors, m.chains, m.iterations, m.warmup, m.n_draws, m.adapt_delta, m.max_treedepth, m.seed,
       l.elpd_loo, l.se_elpd_loo, l.p_loo, l.se_p_loo, l.looic, l.se_looic, l.max_pareto_k, l.n_bad_pareto_k,
       m.compile_s, m.sampling_s, f.seconds, f.versions, f.fitted_at, m.file, m.draws_file, f.call_id
FROM brms_models m
JOIN fits f ON f.call_id = m.call_id
LEFT JOIN brms_loo l ON l.call_id = m.call_id;
