-- The tables of slant. Structured values are JSON in TEXT columns: R's duckdb comes without the json extension.
-- `attempts` has no key on purpose: with a primary key a flush of 200 rows costs ten times as much. Twice is once
-- because `loads` advances in the same transaction that inserts the rows of a journal.

CREATE TABLE slant (name TEXT, value TEXT);

CREATE TABLE runs (
    run_id TEXT, source TEXT, study TEXT, study_version TEXT, variant TEXT, seed BIGINT, repetitions INTEGER,
    settings TEXT, code_version TEXT, machine TEXT, command TEXT,
    started_at TIMESTAMP, finished_at TIMESTAMP, end_reason TEXT
);

-- Whom a run asks what. `model_no` and `test_no` are places in the study; NULL for a model the study does not name.
CREATE TABLE run_models (
    run_id TEXT, place INTEGER, model TEXT, model_no INTEGER, label TEXT, provider TEXT, requested_model TEXT,
    frame TEXT, measure TEXT, settings TEXT, planned BIGINT
);

CREATE TABLE run_tests (run_id TEXT, place INTEGER, test TEXT, test_no INTEGER, label TEXT, planned BIGINT);

CREATE TABLE loads (journal TEXT, byte_offset BIGINT, loaded_at TIMESTAMP);

CREATE TABLE attempts (
    attempt_id TEXT, run_id TEXT, sequence BIGINT, conversation_id TEXT, trial_id TEXT,
    turn INTEGER, try_no INTEGER, is_final BOOLEAN, source TEXT,
    study TEXT, study_version TEXT, variant TEXT, model TEXT, provider TEXT, requested_model TEXT,
    game TEXT, round INTEGER, repetition INTEGER, position BIGINT,
    test TEXT, condition TEXT, item TEXT, "group" TEXT, wording INTEGER,
    option_a TEXT, option_b TEXT, expected TEXT, factors TEXT,
    outcome TEXT, answer TEXT, choice TEXT, detail TEXT,
    tokens BIGINT, token_source TEXT, reasoning_tokens BIGINT, reasoning_tokens_recounted BIGINT,
    output_tokens BIGINT, input_tokens BIGINT, reasoning_text TEXT,
    finish_reason TEXT, served_model TEXT, fingerprint TEXT, request_id TEXT, headers TEXT,
    http_status INTEGER, error TEXT,
    queued_at TIMESTAMP, sent_at TIMESTAMP, first_byte_at TIMESTAMP, done_at TIMESTAMP,
    cost_usd DOUBLE, prompt_hash TEXT, request TEXT, response TEXT
);

-- What `analyze` computed. `fit_id` names one fit of one cell.
CREATE TABLE fits (
    fit_id TEXT, fit TEXT, engine TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, model TEXT, test TEXT,
    refusals_removed BOOLEAN, measure TEXT, token_source TEXT, formula TEXT, data_hash TEXT,
    status TEXT, n BIGINT, n_missing BIGINT, n_groups INTEGER, log_lik DOUBLE, aic DOUBLE, bic DOUBLE,
    singular BOOLEAN, optimiser TEXT, messages TEXT, versions TEXT, seconds DOUBLE, fitted_at TIMESTAMP
);

CREATE TABLE estimates (
    fit_id TEXT, term_no INTEGER, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE variances (fit_id TEXT, term_no INTEGER, "group" TEXT, term TEXT, variance DOUBLE, n_groups INTEGER);

-- Lines of a journal that could not be read; everything around them was kept.
CREATE TABLE journal_problems (journal TEXT, line_no BIGINT, problem TEXT, found_at TIMESTAMP);
