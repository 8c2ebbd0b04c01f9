-- The same predictions and contrasts from a mixed model with a binomial outcome (`analyze --fit lme4`).
CREATE TABLE lme4_predictions (
    call_id TEXT, model TEXT, test TEXT, condition TEXT, kind TEXT, estimate DOUBLE, std_error DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE lme4_contrasts (
    call_id TEXT, model TEXT, test TEXT, kind TEXT, scale TEXT, estimate DOUBLE, std_error DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE, p_value DOUBLE, mde DOUBLE
);

-- Whether an effect holds for other words and wordings (`analyze --fit crossed`, R's fit_crossed()): what a fit of the
-- engine `crossed` found beside its coefficients, which are in `estimates`. `call_id` is that of `fits`, too.

-- The effect of the condition, one cell a row. `sd`: within conditions, pooled. `mde`: the effect that such a study
-- finds with a power of 80 % in a two-sided test at 5 %, in units of the outcome; `mde_d` in those of `sd`.
-- `reference_model`: the formula that it is compared with (the study's own), with what that gives; `verdict`: 'stays',
-- 'lost', 'gained', 'not_significant'. `left_out`: terms whose variance is 0, `fitted`: the maximal model that is not
-- singular, whose numbers these are.
-- How the degrees of freedom of an effect over words and wordings were found ('Kenward-Roger', or 'capped': those of the
-- fewest words or wordings, less 1), and what it is claimed over ('wording, item'; nothing of which there are fewer
-- than three).
-- How much wider than the model's own an interval is taken to be where a run may stop because it is narrow (R's
-- width_margin()): `half_width` of a look has this margin in it.
CREATE TABLE crossed_effects (
    call_id TEXT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, p_value DOUBLE, conf_low DOUBLE,
    conf_high DOUBLE, sd DOUBLE, mde DOUBLE, mde_d DOUBLE, reference_model TEXT, reference_estimate DOUBLE,
    reference_std_error DOUBLE, reference_p DOUBLE, std_error_ratio DOUBLE, verdict TEXT, is_singular BOOLEAN,
    left_out TEXT, fitted TEXT, df_method TEXT, generalises_to TEXT, width_margin DOUBLE
);

-- What the squared standard error of that effect is made of, one variance component a row: `part` of it, in squared units
-- of the outcome, and the same as a `share`. group: 'wording', 'item', 'residual'; term: 'intercept', 'condition' …
CREATE TABLE crossed_shares (
    call_id TEXT, term_no BIGINT, "group" TEXT, term TEXT, variance DOUBLE, n_groups BIGINT, part DOUBLE, share DOUBLE
);

-- Counts as lognormal ones of which only the step is known (`analyze --fit censored`, R's fit_censored()): what a fit of
-- the engine `censored` found beside its coefficients, which are in `estimates`. `call_id` is that of `fits`, too.

-- The effect of the condition, one cell a row. `ratio`: of medians, with its 95 % interval; `step` and medians in tokens;
-- `sd_log`: of the lognormal; `zeros_…`: shares of counts of 0 (0 to 1), observed and as the model predicts them.
-- Degrees of freedom of a ratio of medians over words and wordings, and the coefficients of logistic regressions with
-- standard errors over other `clusters` (stereotypes, say) than the fewest, `n_clusters`, that were asked. `call_id` is
-- that of `fits`, too.
CREATE TABLE censored_effects (
    call_id TEXT, term TEXT, ratio DOUBLE, ratio_low DOUBLE, ratio_high DOUBLE, p_value DOUBLE, step DOUBLE,
    sd_log DOUBLE, median_reference DOUBLE, median_other DOUBLE, zeros_reference DOUBLE, zeros_other DOUBLE,
    zeros_reference_predicted DOUBLE, zeros_other_predicted DOUBLE, df DOUBLE
);

-- Other families of the same counts, each by the probability of every count's interval. `aic_difference`: to the
-- lognormal (above 0: worse); `nats`: of log likelihood a trial more than the lognormal (below 0: worse).
CREATE TABLE censored_families (
    call_id TEXT, term_no BIGINT, family TEXT, n_parameters BIGINT, log_lik DOUBLE, aic DOUBLE, aic_difference DOUBLE,
    nats DOUBLE, is_converged BOOLEAN
);
