-- Sensitivity (`analyze sensitivity`): the same question, asked in other ways.

-- One number of one specification and cell a row. `spec_id` names the fit that it is from: one of interference has a row
-- for each model and domain (`test`). `row_no` is its place among them, in the paper's order; `choices` are JSON. d, d_low
-- and d_high are in standard deviations, NULL for probabilities. A fit that failed is one row without an estimate.
CREATE TABLE sensitivity (
    spec_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT,
    spec TEXT, spec_no INTEGER, label TEXT, choices TEXT, fit TEXT, engine TEXT, formula TEXT,
    row_no INTEGER, model TEXT, test TEXT, estimand TEXT, unit TEXT,
    estimate DOUBLE, std_error DOUBLE, conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE, p_positive DOUBLE,
    d DOUBLE, d_low DOUBLE, d_high DOUBLE,
    n BIGINT, n_left_out BIGINT, n_missing BIGINT, status TEXT, messages TEXT,
    data_hash TEXT, versions TEXT, seconds DOUBLE, fitted_at TIMESTAMP
);
