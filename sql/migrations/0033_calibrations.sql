-- Simulation-based calibration (`analyze calibrate`): a Bayesian fit made again and again to outcomes that are drawn
-- from its own priors, in the rows of one source, study version, variant and, where it is made of each, model and test.

-- One calibration a row. `family` of the outcome; `seed`, `settings` (JSON); `n_data_sets` were asked for; how many
-- have ranks is in calibration_quantities. `rows_hash`: of the rows, as `data_hash` of their fits is.
-- `fit_seconds`: of all fits together.
CREATE TABLE calibrations (
    call_id TEXT, calibration_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, fit TEXT, engine TEXT,
    model TEXT, test TEXT, family TEXT, formula TEXT, priors TEXT, seed BIGINT, n_data_sets BIGINT, settings TEXT,
    n_rows BIGINT, rows_hash TEXT, fit_seconds DOUBLE
);

-- One data set a row, numbered from 1. The `status` of its call: 'ok', 'divergent', 'unconverged' or 'failed'.
-- `iterations` of a chain: they are doubled, at most twice, where there are too few effective draws. `seed` of the
-- chains; `priors` of truths and fit, in words.
CREATE TABLE calibration_fits (
    call_id TEXT, calibration_id TEXT, number BIGINT, seed BIGINT, n_divergent BIGINT, n_max_treedepth BIGINT,
    iterations BIGINT, n_rows BIGINT, priors TEXT
);

-- One data set and quantity a row: its truth, and the posterior's mean, standard deviation and 95 % interval. `rank`:
-- how many of `n_draws` draws are below the truth. z_score: estimate minus truth, in standard deviations.
CREATE TABLE calibration_posteriors (
    call_id TEXT, number BIGINT, term_no BIGINT, quantity TEXT, truth DOUBLE, rank BIGINT, n_draws BIGINT,
    estimate DOUBLE, std_dev DOUBLE, conf_low DOUBLE, conf_high DOUBLE, z_score DOUBLE, rhat DOUBLE, ess_bulk DOUBLE
);

-- One quantity a row, over all data sets, as R's calibrate() describes them.
CREATE TABLE calibration_quantities (
    call_id TEXT, term_no BIGINT, quantity TEXT, n BIGINT, n_failed BIGINT, n_doubtful BIGINT, n_draws BIGINT,
    p_value DOUBLE, p_adjusted DOUBLE, is_in_band BOOLEAN, n_held BIGINT, coverage DOUBLE, mean_z DOUBLE, sd_z DOUBLE,
    shrinkage DOUBLE, mean_rank DOUBLE, min_ess_bulk DOUBLE
);
