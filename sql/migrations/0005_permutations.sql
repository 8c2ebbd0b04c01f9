-- Falsification by permutation (`analyze permute`): refits of a fit to data whose block labels were swapped at random.

-- One run of the test a row: which fit, of which rows, with which seed and settings (JSON). `n_permutations` were asked
-- for; how many took part stands in permutation_cells. `n_one_block`: items answered in one block only, by model and
-- domain; their only label is drawn, too.
CREATE TABLE permutations (
    permutation_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, fit TEXT, engine TEXT,
    formula TEXT, block TEXT, unit TEXT, within TEXT, seed BIGINT, n_permutations INTEGER, settings TEXT,
    n_rows BIGINT, n_units BIGINT, n_one_block BIGINT, data_hash TEXT, versions TEXT, seconds DOUBLE,
    finished_at TIMESTAMP
);

-- One refit a row; number 0 is the data as observed, fitted with the same settings. status: 'ok', 'divergent',
-- 'unconverged', 'warned' (lme4) or 'failed'.
CREATE TABLE permutation_refits (
    permutation_id TEXT, number INTEGER, seed BIGINT, status TEXT, n_divergent INTEGER, n_max_treedepth INTEGER,
    is_singular BOOLEAN, messages TEXT, seconds DOUBLE
);

-- One refit and cell (model and domain) a row. delta_p: difference of probabilities, s: of log odds, both
-- population-level; delta_p_items: of probabilities averaged over the items with their random intercepts. Of brms the
-- posterior's mean, its sd, and the Monte Carlo standard error of that mean. is_separated: all alike in one block.
CREATE TABLE permutation_draws (
    permutation_id TEXT, number INTEGER, model TEXT, domain TEXT,
    delta_p DOUBLE, delta_p_sd DOUBLE, delta_p_mcse DOUBLE,
    delta_p_items DOUBLE, delta_p_items_sd DOUBLE, delta_p_items_mcse DOUBLE, s DOUBLE, s_sd DOUBLE, s_mcse DOUBLE,
    rhat DOUBLE, ess_bulk DOUBLE, is_separated BOOLEAN
);

-- One cell, kind ('population', 'item_averaged') and scale ('delta_p', 's') a row: the observed value beside its null
-- distribution. n_as_large: k of p = (1 + k) / (1 + n). p_low, p_high: Clopper and Pearson's 95 % interval of k / n.
CREATE TABLE permutation_cells (
    permutation_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT,
    observed DOUBLE, null_mean DOUBLE, null_sd DOUBLE, null_low DOUBLE, null_median DOUBLE, null_high DOUBLE,
    n INTEGER, n_failed INTEGER, n_divergent INTEGER, n_unconverged INTEGER, n_warned INTEGER, n_separated INTEGER,
    n_as_large INTEGER, p_one_sided DOUBLE, p_low DOUBLE, p_high DOUBLE,
    p_two_sided DOUBLE, p_two_sided_low DOUBLE, p_two_sided_high DOUBLE, p_if_failed_large DOUBLE, noise_share DOUBLE
);
