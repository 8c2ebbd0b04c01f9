-- Degrees of freedom of a ratio of medians over words and wordings, and the coefficients of logistic regressions with
-- standard errors over other `clusters` (stereotypes, say) than the fewest, `n_clusters`, that were asked. `call_id` is
-- that of `fits`, too.
ALTER TABLE censored_effects ADD COLUMN df DOUBLE;
CREATE TABLE logistic_clustered (
    call_id TEXT, term_no BIGINT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, clusters TEXT, n_clusters BIGINT
);
