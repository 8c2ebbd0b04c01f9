-- Ratings and forced choices (`analyze --fit` with the engines clm and clogit, R's fit_clm() and fit_clogit()): likelihood
-- ratio tests of the whole model ("all") and of each term, coefficients with standard errors over `clusters`, and of
-- ratings what each level of a factor does to the probability of each point of the scale (`category`), against the
-- `reference`. `method`: how a standard error over clusters was made (HC1, CR2, two ways, robust). `call_id` is that of
-- `fits`, too.
CREATE TABLE clm_tests (
    call_id TEXT, term TEXT, null_log_lik DOUBLE, pseudo_r_squared DOUBLE, chi_squared DOUBLE, df DOUBLE, p_value DOUBLE
);
CREATE TABLE clm_clustered (
    call_id TEXT, term_no BIGINT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, method TEXT, clusters TEXT, n_clusters BIGINT
);
CREATE TABLE clm_categories (
    call_id TEXT, term_no BIGINT, term TEXT, attribute TEXT, level TEXT, reference TEXT, category TEXT, estimate DOUBLE,
    std_error DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);
CREATE TABLE clogit_tests (
    call_id TEXT, term TEXT, null_log_lik DOUBLE, pseudo_r_squared DOUBLE, chi_squared DOUBLE, df DOUBLE, p_value DOUBLE
);
CREATE TABLE clogit_clustered (
    call_id TEXT, term_no BIGINT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, method TEXT, clusters TEXT, n_clusters BIGINT
);
ALTER TABLE lm_clustered ADD COLUMN method TEXT;
ALTER TABLE logistic_clustered ADD COLUMN method TEXT;
