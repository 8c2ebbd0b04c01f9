-- Logistic regressions (`analyze --fit logistic`, R's fit_logistic()) against the model that has an intercept alone:
-- `chi_squared` is twice the gain of log likelihood, with `df` degrees of freedom and its `p_value`; `pseudo_r_squared`
-- is McFadden's. `call_id` is that of `fits`, too. With clusters `p_value` belongs to Wald's F (`f_value`) with `df` and
-- `df_residual`, and estimates are over the clusters; columns that end with _rows are those of independent rows, as papers
-- print them.
CREATE TABLE logistic_tests (
    call_id TEXT, term TEXT, null_log_lik DOUBLE, pseudo_r_squared DOUBLE, chi_squared DOUBLE, df DOUBLE,
    p_value DOUBLE, p_value_rows DOUBLE, f_value DOUBLE, df_residual DOUBLE, chi_squared_rows DOUBLE
);

CREATE TABLE logistic_clustered (
    call_id TEXT, term_no BIGINT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, clusters TEXT, n_clusters BIGINT, method TEXT,
    std_error_rows DOUBLE, statistic_rows DOUBLE, p_value_rows DOUBLE, conf_low_rows DOUBLE, conf_high_rows DOUBLE
);

-- Linear models without random effects (`analyze --fit` with the engine lm, R's fit_lm()): F tests of the whole model
-- ("all") and of each term, `eta_squared` is partial; and the coefficients with standard errors over `clusters`, of
-- which there are `n_clusters` at least. `call_id` is that of `fits`, too.
CREATE TABLE lm_tests (
    call_id TEXT, term TEXT, f_value DOUBLE, df DOUBLE, df_residual DOUBLE, p_value DOUBLE, eta_squared DOUBLE,
    p_value_rows DOUBLE, f_value_rows DOUBLE, df_residual_rows DOUBLE
);

CREATE TABLE lm_clustered AS FROM logistic_clustered WITH NO DATA;

-- Ratings and forced choices (`analyze --fit` with the engines clm and clogit, R's fit_clm() and fit_clogit()): likelihood
-- ratio tests of the whole model ("all") and of each term, coefficients with standard errors over `clusters`, and of
-- ratings what each level of a factor does to the probability of each point of the scale (`category`), against the
-- `reference`. `method`: how a standard error over clusters was made (HC1, CR2, two ways, robust). `call_id` is that of
-- `fits`, too.
CREATE TABLE clm_tests AS FROM logistic_tests WITH NO DATA;

CREATE TABLE clm_clustered AS FROM logistic_clustered WITH NO DATA;

CREATE TABLE clm_categories (
    call_id TEXT, term_no BIGINT, term TEXT, attribute TEXT, level TEXT, reference TEXT, category TEXT, estimate DOUBLE,
    std_error DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE clogit_tests AS FROM logistic_tests WITH NO DATA;

CREATE TABLE clogit_clustered AS FROM logistic_clustered WITH NO DATA;
