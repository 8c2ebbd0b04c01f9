-- The tables of slant. Structured values are JSON in TEXT columns: R's duckdb comes without the json extension.
-- `attempts` has no key on purpose: with a primary key a flush of 200 rows costs ten times as much. Twice is once
-- because `loads` advances in the same transaction that inserts the rows of a journal.
CREATE TABLE slant (name TEXT, value TEXT);

-- `study_file` is NULL for a study that ships with slant.
-- The SHA-256 of the registration that a run was given; NULL without one.
-- What the study of a run calls a refusal: outcome (the outcome refused), or exact_label, the rule of a paper: whatever
-- is not exactly one of the two labels. NULL if it was not given: outcome. `consent` and `origin` of a run with people
-- say what they agreed to and where the data come from.
CREATE TABLE runs (
    run_id TEXT, source TEXT, study TEXT, study_version TEXT, variant TEXT, seed BIGINT, repetitions INTEGER,
    settings TEXT, code_version TEXT, machine TEXT, command TEXT, started_at TIMESTAMP, finished_at TIMESTAMP,
    end_reason TEXT, study_title TEXT, study_source TEXT, study_file TEXT, git_commit TEXT, design TEXT,
    registration TEXT, refusal_rule TEXT, consent TEXT, origin TEXT
);

-- Whom a run asks what. `model_no` and `test_no` are places in the study; NULL for a model the study does not name.
-- `sent` and `left_to_default` say which parameters a model was given and which were the provider's; `prompt_hash` is
-- that of the first prompt of the plan; `price` is the row of the price list that costs were reckoned with (JSON).
-- The occasion that a run asked a model on, and the number of trials that it was to ask again; NULL of other runs.
CREATE TABLE run_models (
    run_id TEXT, place INTEGER, model TEXT, model_no INTEGER, label TEXT, provider TEXT, requested_model TEXT,
    frame TEXT, measure TEXT, settings TEXT, planned BIGINT, base_url TEXT, api_version TEXT, sent TEXT,
    left_to_default TEXT, prompt_hash TEXT, price TEXT, occasion INTEGER, n_again BIGINT
);

-- `groups`: the categories of a test's words, in the study's order (JSON); NULL where it has none.
CREATE TABLE run_tests (
    run_id TEXT, place INTEGER, test TEXT, test_no INTEGER, label TEXT, planned BIGINT, groups TEXT
);

-- Conditions of a study in its order: blocks of a forced choice, classes of a game. The first is the reference level.
CREATE TABLE run_conditions (run_id TEXT, place INTEGER, condition TEXT, condition_no INTEGER, label TEXT);

-- People whose answers a run has; their `attributes` are what was asked for by name.
CREATE TABLE run_participants (run_id TEXT, participant INTEGER, attributes MAP(TEXT, TEXT));

-- One file of one text of a study a row; `file_no` 1 is its TOML, the others are the CSVs that it reads. A version may
-- have several texts, which differ in nothing that is asked (a label, a fit): the one that was kept last holds.
CREATE TABLE study_files (
    study TEXT, study_version TEXT, text_id TEXT, file_no INTEGER, file TEXT, text TEXT, kept_at TIMESTAMP
);

-- What a version is made of: a short hash for each kind of trial that shares what its prompts are made of. A trial
-- belongs to every version that has its `content`, so that an edit elsewhere in the study does not part it from the rest.
CREATE TABLE study_contents (study TEXT, study_version TEXT, content TEXT, kept_at TIMESTAMP);

CREATE TABLE loads (journal TEXT, byte_offset BIGINT, loaded_at TIMESTAMP);

-- Lines of a journal that could not be read; everything around them was kept.
CREATE TABLE journal_problems (journal TEXT, line_no BIGINT, problem TEXT, found_at TIMESTAMP);

-- Runs that somebody set aside (`collect set-aside`), each with the reason; `is_back` where that was taken back later. The
-- last line about a run (`of_run`) counts; `run_id` is the journal with the line.
CREATE TABLE set_aside (run_id TEXT, of_run TEXT, study TEXT, reason TEXT, is_back BOOLEAN, noted_at TIMESTAMP,
    note_no BIGINT -- what decides which note is the last: clocks of machines differ
);

-- Databases that were brought together (`collect merge`).

-- The runs of one collector, one a row; `source` is the name of its database. A run that goes on with another's games
-- has its lineage, too, so that a run may have several; one that was made here after the merge has none.
CREATE TABLE merged_runs (lineage TEXT, source TEXT, run_id TEXT, merged_at TIMESTAMP);

-- Registrations (`collect preregister`): what was fixed before the data, and what of it slant can see.

-- The text of a registration that a run was begun with, once each; its SHA-256 is of these bytes (UTF-8).
CREATE TABLE registrations (sha256 TEXT, study TEXT, text TEXT, kept_at TIMESTAMP);
