-- The same trials on another occasion (`collect --again`): is it the same tomorrow?

-- `occasion` counts from 2, NULL: the first, which all tables and fits of a study show. `first_trial_id` is the trial that
-- is asked again; the later answer is a trial of its own, so that none replaces another.
ALTER TABLE attempts ADD COLUMN occasion INTEGER;
ALTER TABLE attempts ADD COLUMN first_trial_id TEXT;

-- The occasion that a run asked a model on, and the number of trials that it was to ask again; NULL of other runs.
ALTER TABLE run_models ADD COLUMN occasion INTEGER;
ALTER TABLE run_models ADD COLUMN n_again BIGINT;

-- What `analyze retest` computed of each model, test and occasion (R's retest_reliability()). test NULL: all tests
-- together. n: trials with both measures; estimates with their 95 % intervals. `shift` is the later occasion minus the
-- first, in units of the measure, `shift_d` in standard deviations of the first.
CREATE TABLE retests (
    call_id TEXT, source TEXT, study TEXT, study_version TEXT, variant TEXT, model TEXT, test TEXT, measure TEXT,
    occasion INTEGER, n_answers BIGINT, share_equal DOUBLE, kappa DOUBLE, kappa_low DOUBLE, kappa_high DOUBLE,
    n BIGINT, icc DOUBLE, icc_low DOUBLE, icc_high DOUBLE, icc_agreement DOUBLE, mean_first DOUBLE, sd_first DOUBLE,
    mean_later DOUBLE, shift DOUBLE, shift_low DOUBLE, shift_high DOUBLE, shift_d DOUBLE, statistic DOUBLE, df DOUBLE,
    p_value DOUBLE, status TEXT, messages TEXT
);
