-- Linear models without random effects (`analyze --fit` with the engine lm, R's fit_lm()): F tests of the whole model
-- ("all") and of each term, `eta_squared` is partial; and the coefficients with standard errors over `clusters`, of
-- which there are `n_clusters` at least. `call_id` is that of `fits`, too.
CREATE TABLE lm_tests (
    call_id TEXT, term TEXT, f_value DOUBLE, df DOUBLE, df_residual DOUBLE, p_value DOUBLE, eta_squared DOUBLE
);
CREATE TABLE lm_clustered (
    call_id TEXT, term_no BIGINT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, clusters TEXT, n_clusters BIGINT
);
