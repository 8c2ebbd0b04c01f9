-- Logistic regressions (`analyze --fit logistic`, R's fit_logistic()) against the model that has an intercept alone:
-- `chi_squared` is twice the gain of log likelihood, with `df` degrees of freedom and its `p_value`; `pseudo_r_squared`
-- is McFadden's. `call_id` is that of `fits`, too.
CREATE TABLE logistic_tests (
    call_id TEXT, term TEXT, null_log_lik DOUBLE, pseudo_r_squared DOUBLE, chi_squared DOUBLE, df DOUBLE, p_value DOUBLE
);
