-- What `analyze` computed: one call of a function of R a row. `call_id` is a hash of that function, the rows that it was
-- given (whose own hash is `data_hash`), its arguments, and the R code. `about` (JSON) says what the result is of: a new
-- one takes the place of the earlier one that is about the same. `versions` (JSON) are those of R and its packages.
-- status: 'ok', 'warned', 'failed', or what the function says of itself ('singular', 'divergent').
CREATE TABLE calls (
    call_id TEXT, function TEXT, about TEXT, data_hash TEXT, versions TEXT, status TEXT, messages TEXT, seconds DOUBLE,
    ended_at TIMESTAMP
);

-- One look at the results a row: a number of trials of a cell for which an analysis was made the first time. Results in
-- `calls` give way to newer ones, these rows stay. model, test NULL: an analysis of several at once.
CREATE TABLE looks (
    study TEXT, source TEXT, variant TEXT, analysis TEXT, model TEXT, test TEXT, n_trials BIGINT, looked_at TIMESTAMP
);

-- Looks at how wide intervals were while a model was being asked (`collect --until-width`): one test of one look a row.
-- Neither the effect nor its p is here, for nothing was decided by them.

-- `plan` is one name for what a model is asked, whatever the number of repetitions. The rule: no more is asked once
-- `half_width` is `until_width` or less in every test, or after `most_repetitions`; looked at `looks` times at most.
-- `half_width`, half of the 95 % interval of the condition effect by the fit `fit`, is in units of `outcome`, and NULL
-- where there was none (`status` failed); `least_half_width` is what it would come to with any number of repetitions of
-- the same words in the same wordings. `n_trials` went into it.
CREATE TABLE precision_looks (
    plan TEXT, study TEXT, study_version TEXT, variant TEXT, source TEXT, model TEXT, seed BIGINT,
    until_width DOUBLE, looks INTEGER, most_repetitions INTEGER, look_no INTEGER, repetitions INTEGER, fit TEXT,
    outcome TEXT, looked_at TIMESTAMP, place INTEGER, test TEXT, half_width DOUBLE, least_half_width DOUBLE,
    status TEXT, n_trials BIGINT, width_margin DOUBLE
);

-- The data frames that these calls returned, each in a separate table, distinguished by `call_id`.

-- One fit of one cell a row (the view `fits` adds its call). `dropped` says how many rows it left out, by the
-- flag that said so: "is_refusal: 4"; NULL where it has no flags.
CREATE TABLE fit_cells (
    call_id TEXT, fit TEXT, engine TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, model TEXT,
    test TEXT, refusals_removed BOOLEAN, dropped TEXT, measure TEXT, token_source TEXT, formula TEXT,
    n BIGINT, n_missing BIGINT, n_groups BIGINT, log_lik DOUBLE, aic DOUBLE, bic DOUBLE, singular BOOLEAN,
    optimiser TEXT
);

CREATE TABLE estimates (
    call_id TEXT, term_no BIGINT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE variances (call_id TEXT, term_no BIGINT, "group" TEXT, term TEXT, variance DOUBLE, n_groups BIGINT);
