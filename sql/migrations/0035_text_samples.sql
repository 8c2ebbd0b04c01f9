-- Texts of a coding study that people are to code, drawn at random (`collect sample`), a text and sample a row. A sample
-- is drawn from the texts that no earlier one has: `probability` is that of a text then, also of those that were not
-- drawn (`is_drawn`); of texts that an earlier sample has it is what it would have been. All samples together have drawn
-- a text with the probability 1 - (1 - p1) (1 - p2) …
CREATE TABLE text_samples (
    run_id TEXT, study TEXT, sample_no INTEGER, seed BIGINT, drawn_by TEXT, item TEXT, probability DOUBLE,
    is_drawn BOOLEAN, drawn_at TIMESTAMP
);

-- What fit_dsl() and fit_ppi() have next to each other: codes taken as truth, people alone, corrected.
CREATE TABLE dsl_corrections (
    call_id TEXT, model TEXT, test TEXT, method TEXT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, n BIGINT
);
CREATE TABLE ppi_corrections (
    call_id TEXT, model TEXT, test TEXT, method TEXT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, n BIGINT
);
CREATE TABLE ppi_lambdas (call_id TEXT, model TEXT, test TEXT, lambda_used DOUBLE, n_people BIGINT, n_others BIGINT);
