-- Whether an effect holds for other words and wordings (`analyze --fit crossed`, R's fit_crossed()): what a fit of the
-- engine `crossed` found beside its coefficients, which are in `estimates`. `call_id` is that of `fits`, too.

-- The effect of the condition, one cell a row. `sd`: within conditions, pooled. `mde`: the effect that such a study finds
-- with a power of 80 % in a two-sided test at 5 %, in units of the outcome; `mde_d` in those of `sd`. `beside`: the
-- formula that it is set beside (the paper's), with what that gives; `verdict`: 'stays', 'lost', 'gained', 'not_significant'.
-- `left_out`: terms whose variance is 0, `fitted`: the maximal model that is not singular, whose numbers these are.
CREATE TABLE crossed_effects (
    call_id TEXT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, p_value DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE, sd DOUBLE, mde DOUBLE, mde_d DOUBLE, beside TEXT, estimate_beside DOUBLE,
    std_error_beside DOUBLE, p_beside DOUBLE, std_error_ratio DOUBLE, verdict TEXT, is_singular BOOLEAN,
    left_out TEXT, fitted TEXT
);

-- What the squared standard error of that effect is made of, one variance component a row: `part` of it, in squared units
-- of the outcome, and the same as a `share`. group: 'wording', 'item', 'residual'; term: 'intercept', 'condition' …
CREATE TABLE crossed_shares (
    call_id TEXT, term_no BIGINT, "group" TEXT, term TEXT, variance DOUBLE, n_groups BIGINT, part DOUBLE, share DOUBLE
);
