-- Falsification by permutation (`analyze permute`): refits of a fit to data whose condition labels were swapped at random.

-- One run of the test a row: which fit, of which rows, with which seed and settings (JSON). `n_permutations` were asked
-- for; how many took part is in permutation_cells. `contrast`: the column whose two labels are swapped.
-- `n_one_condition`: items answered in one condition only, by model and test; their only label is drawn, too.
-- `rows_hash`: of the rows as observed, as `data_hash` of their fits is. `refit_seconds`: of all refits together.
CREATE TABLE permutations (
    call_id TEXT, permutation_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, fit TEXT,
    engine TEXT, formula TEXT, contrast TEXT, unit TEXT, within TEXT, seed BIGINT, n_permutations BIGINT,
    settings TEXT, n_rows BIGINT, n_units BIGINT, n_one_condition BIGINT, rows_hash TEXT, refit_seconds DOUBLE
);

-- One refit a row; number 0 is the data as observed, fitted with the same settings. The `status` of its call: 'ok',
-- 'divergent', 'unconverged', 'warned' (lme4) or 'failed'.
CREATE TABLE permutation_refits (
    call_id TEXT, permutation_id TEXT, number BIGINT, seed BIGINT, n_divergent BIGINT, n_max_treedepth BIGINT,
    is_singular BOOLEAN
);

-- One refit and cell (model and test) a row. delta_p: difference of probabilities, s: of log odds, both
-- population-level; delta_p_items: of probabilities averaged over the items with their random intercepts. Of brms the
-- posterior's mean, its sd, and the Monte Carlo standard error of that mean. is_separated: all alike in one condition.
-- The same of each permutation: the difference of the conditions in units of the outcome, and the engine's p.
CREATE TABLE permutation_draws (
    call_id TEXT, number BIGINT, model TEXT, test TEXT, delta_p DOUBLE, delta_p_sd DOUBLE, delta_p_mcse DOUBLE,
    delta_p_items DOUBLE, delta_p_items_sd DOUBLE, delta_p_items_mcse DOUBLE, s DOUBLE, s_sd DOUBLE, s_mcse DOUBLE,
    rhat DOUBLE, ess_bulk DOUBLE, is_separated BOOLEAN, difference DOUBLE, p_value DOUBLE
);

-- One cell, kind ('population', 'item_averaged') and scale ('delta_p', 's') a row: the observed value beside its null
-- distribution. n_as_large: k of p = (1 + k) / (1 + n). p_low, p_high: Clopper and Pearson's 95 % interval of k / n.
-- Permutations of the conditions of words (`analyze permute` of an association study), a model and test a row
-- of the kind 'population' and the scale 'difference'. p_engine: the p of the engine's own test (Welch's, lme4's) of the
-- data as observed; false_positives: in which share of the permutations that is below .05, with its 95 % interval.
CREATE TABLE permutation_cells (
    call_id TEXT, model TEXT, test TEXT, kind TEXT, scale TEXT, observed DOUBLE, null_mean DOUBLE, null_sd DOUBLE,
    null_low DOUBLE, null_median DOUBLE, null_high DOUBLE, n BIGINT, n_failed BIGINT, n_divergent BIGINT,
    n_unconverged BIGINT, n_warned BIGINT, n_separated BIGINT, n_as_large BIGINT, p_one_sided DOUBLE, p_low DOUBLE,
    p_high DOUBLE, p_two_sided DOUBLE, p_two_sided_low DOUBLE, p_two_sided_high DOUBLE, p_if_failed_large DOUBLE,
    noise_share DOUBLE, p_engine DOUBLE, false_positives DOUBLE, false_positives_low DOUBLE,
    false_positives_high DOUBLE
);

-- Sensitivity (`analyze sensitivity`): the same question, asked in other ways.

-- One number of one specification and cell a row. `call_id` names the fit that it is from: one of interference has a row
-- for each model and test. `row_no` is its place among them, in the paper's order; `choices` are JSON. d, d_low
-- and d_high are in standard deviations, NULL for probabilities. A fit that failed is one row without an estimate.
CREATE TABLE sensitivity (
    call_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT,
    spec TEXT, spec_no BIGINT, label TEXT, choices TEXT, fit TEXT, engine TEXT, formula TEXT,
    row_no BIGINT, model TEXT, test TEXT, estimand TEXT, unit TEXT,
    estimate DOUBLE, std_error DOUBLE, conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE, p_positive DOUBLE,
    d DOUBLE, d_low DOUBLE, d_high DOUBLE,
    n BIGINT, n_left_out BIGINT, n_missing BIGINT, status TEXT, messages TEXT
);

-- What `analyze retest` computed of each model, test and occasion (R's retest_reliability()). test NULL: all tests
-- together. n: trials with both measures; estimates with their 95 % intervals. `shift` is the later occasion minus the
-- first, in units of the measure, `shift_d` in standard deviations of the first.
-- Of occasions: the intraclass correlation of what trials of one test and condition differ by, with its interval.
CREATE TABLE retests (
    call_id TEXT, source TEXT, study TEXT, study_version TEXT, variant TEXT, model TEXT, test TEXT, measure TEXT,
    occasion INTEGER, n_answers BIGINT, share_equal DOUBLE, kappa DOUBLE, kappa_low DOUBLE, kappa_high DOUBLE,
    n BIGINT, icc DOUBLE, icc_low DOUBLE, icc_high DOUBLE, icc_agreement DOUBLE, mean_first DOUBLE, sd_first DOUBLE,
    mean_later DOUBLE, shift DOUBLE, shift_low DOUBLE, shift_high DOUBLE, shift_d DOUBLE, statistic DOUBLE,
    df DOUBLE, p_value DOUBLE, status TEXT, messages TEXT, icc_residual DOUBLE, icc_residual_low DOUBLE,
    icc_residual_high DOUBLE
);
