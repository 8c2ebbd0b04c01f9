-- The tables of slant. Structured values are JSON in TEXT columns: R's duckdb comes without the json extension.
-- `attempts` has no key on purpose: with a primary key a flush of 200 rows costs ten times as much. Twice is once
-- because `loads` advances in the same transaction that inserts the rows of a journal.

CREATE TABLE slant (name TEXT, value TEXT);

-- `study_file` is NULL for a study that ships with slant.
CREATE TABLE runs (
    run_id TEXT, source TEXT, study TEXT, study_version TEXT, variant TEXT, seed BIGINT, repetitions INTEGER,
    settings TEXT, code_version TEXT, machine TEXT, command TEXT,
    started_at TIMESTAMP, finished_at TIMESTAMP, end_reason TEXT,
    study_title TEXT, study_source TEXT, study_file TEXT, git_commit TEXT, design TEXT
);

-- Whom a run asks what. `model_no` and `test_no` are places in the study; NULL for a model the study does not name.
-- `sent` and `left_to_default` say which parameters a model was given and which were the provider's; `prompt_hash` is
-- that of the first prompt of the plan; `price` is the row of the price list that costs were reckoned with (JSON).
CREATE TABLE run_models (
    run_id TEXT, place INTEGER, model TEXT, model_no INTEGER, label TEXT, provider TEXT, requested_model TEXT,
    frame TEXT, measure TEXT, settings TEXT, planned BIGINT,
    base_url TEXT, api_version TEXT, sent TEXT, left_to_default TEXT, prompt_hash TEXT, price TEXT
);

-- `groups`: the categories of a test's words, in the study's order (JSON); NULL where it has none.
CREATE TABLE run_tests (
    run_id TEXT, place INTEGER, test TEXT, test_no INTEGER, label TEXT, planned BIGINT, groups TEXT
);

-- Conditions of a study in its order: blocks of a forced choice, classes of a game. The first is the reference level.
CREATE TABLE run_conditions (run_id TEXT, place INTEGER, condition TEXT, condition_no INTEGER, label TEXT);

-- One file of one text of a study a row; `file_no` 1 is its TOML, the others are the CSVs that it reads. A version may
-- have several texts, which differ in nothing that is asked (a label, a fit): the one that was kept last holds.
CREATE TABLE study_files (
    study TEXT, study_version TEXT, text_id TEXT, file_no INTEGER, file TEXT, text TEXT, kept_at TIMESTAMP
);

-- What a version is made of: a short hash for each kind of trial that shares what its prompts are made of. A trial
-- belongs to every version that has its `content`, so that an edit elsewhere in the study does not part it from the rest.
CREATE TABLE study_contents (study TEXT, study_version TEXT, content TEXT, kept_at TIMESTAMP);

CREATE TABLE loads (journal TEXT, byte_offset BIGINT, loaded_at TIMESTAMP);

-- One request and what came back, or one imported answer, a row. `content` says what of the study's text the trial is
-- made of (study_contents). Log-probabilities of the two options (`--logprobs`) are natural logarithms; `logprob_kind` is
-- exact or first_token. `recount_tokenizer` is that of `reasoning_tokens_recounted` (`collect recount`). `batch_id` is the
-- provider's name of the batch job that an answer came in; NULL for a live request. `factors` is JSON, as the journal has
-- it; `factor_lists` has the same for SQL, by name: a list of texts each, of one where the value is no list; what is
-- itself structured is JSON (sql/queries/typed_rows.sql makes it where rows come in). Long texts and names that no two
-- rows share are packed by zstd, which takes half the time and room that DuckDB's own choice takes.
CREATE TABLE attempts (
    attempt_id TEXT USING COMPRESSION zstd, run_id TEXT, sequence BIGINT,
    conversation_id TEXT USING COMPRESSION zstd, trial_id TEXT USING COMPRESSION zstd,
    turn INTEGER, try_no INTEGER, is_final BOOLEAN, source TEXT,
    study TEXT, study_version TEXT, variant TEXT, model TEXT, provider TEXT, requested_model TEXT,
    game TEXT, round INTEGER, repetition INTEGER, position BIGINT,
    test TEXT, condition TEXT, item TEXT USING COMPRESSION zstd, "group" TEXT, wording INTEGER,
    option_a TEXT, option_b TEXT, expected TEXT,
    factors TEXT USING COMPRESSION zstd, factor_lists MAP(VARCHAR, VARCHAR[]),
    outcome TEXT, answer TEXT USING COMPRESSION zstd, choice TEXT, detail TEXT USING COMPRESSION zstd,
    tokens BIGINT, token_source TEXT, reasoning_tokens BIGINT, reasoning_tokens_recounted BIGINT,
    output_tokens BIGINT, input_tokens BIGINT, reasoning_text TEXT USING COMPRESSION zstd,
    finish_reason TEXT, served_model TEXT, fingerprint TEXT,
    request_id TEXT USING COMPRESSION zstd, headers TEXT USING COMPRESSION zstd,
    http_status INTEGER, error TEXT USING COMPRESSION zstd,
    queued_at TIMESTAMP, sent_at TIMESTAMP, first_byte_at TIMESTAMP, done_at TIMESTAMP,
    cost_usd DOUBLE, prompt_hash TEXT USING COMPRESSION zstd,
    request TEXT USING COMPRESSION zstd, response TEXT USING COMPRESSION zstd,
    option_a_logprob DOUBLE, option_b_logprob DOUBLE, logprob_kind TEXT,
    recount_tokenizer TEXT, cached_input_tokens BIGINT, batch_id TEXT, content TEXT
);

-- Lines of a journal that could not be read; everything around them was kept.
CREATE TABLE journal_problems (journal TEXT, line_no BIGINT, problem TEXT, found_at TIMESTAMP);

-- One `collect check-model MODEL` a row (`run_id` names its journal). `temperature`, `effort` and `seed` hold a finding (acts,
-- no effect seen, rejected …); `answers` is JSON: every question, its answer, its counts and the response as it came.
CREATE TABLE checks (
    run_id TEXT, provider TEXT, requested_model TEXT, settings TEXT, verdict TEXT, reasons TEXT,
    counted TEXT, n_asked INTEGER, n_answered INTEGER, n_right INTEGER, n_counted INTEGER,
    difficulty_correlation DOUBLE, step BIGINT, zero_share DOUBLE, sum_share DOUBLE, readable_share DOUBLE,
    temperature TEXT, effort TEXT, seed TEXT, served_models TEXT,
    answers TEXT, code_version TEXT, checked_at TIMESTAMP
);

-- How the limit of requests in flight moved in a run, and what it waited for: one row an event, in journal order.
CREATE TABLE pace_history (
    run_id TEXT, noted_at TIMESTAMP, model TEXT, event TEXT, request_limit INTEGER, in_flight INTEGER, wait_s DOUBLE,
    detail TEXT
);
