-- Looks at how wide intervals were while a model was being asked (`collect --until-width`): one test of one look a row.
-- Neither the effect nor its p is here, for nothing was decided by them.

-- `plan` is one name for what a model is asked, whatever the number of repetitions. The rule: no more is asked once
-- `half_width` is `until_width` or less in every test, or after `most_repetitions`; looked at `looks` times at most.
-- `half_width`, half of the 95 % interval of the condition effect by the fit `fit`, is in units of `outcome`, and NULL
-- where there was none (`status` failed); `least_half_width` is what it would come to with any number of repetitions of
-- the same words in the same wordings. `n_trials` went into it.
CREATE TABLE precision_looks (
    plan TEXT, study TEXT, study_version TEXT, variant TEXT, source TEXT, model TEXT, seed BIGINT,
    until_width DOUBLE, looks INTEGER, most_repetitions INTEGER, look_no INTEGER, repetitions INTEGER,
    fit TEXT, outcome TEXT, looked_at TIMESTAMP,
    place INTEGER, test TEXT, half_width DOUBLE, least_half_width DOUBLE, status TEXT, n_trials BIGINT
);
