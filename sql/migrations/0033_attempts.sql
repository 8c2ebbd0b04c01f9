-- One request and what came back, or one imported answer, a row. `content` says what of the study's text the trial is
-- made of (study_contents). Log-probabilities of the two options (`--logprobs`) are natural logarithms; `logprob_kind` is
-- exact or first_token. `recount_tokenizer` is that of `reasoning_tokens_recounted` (`collect recount`). `batch_id` is the
-- provider's name of the batch job that an answer came in; NULL for a live request. `factors` is JSON, as the journal has
-- it; `factor_lists` has the same for SQL, by name: a list of texts each, of one where the value is no list; what is
-- itself structured is JSON (sql/queries/typed_rows.sql makes it where rows come in). Long texts and names that no two
-- rows share are packed by zstd, which takes half the time and room that DuckDB's own choice takes.
-- True of attempts that are kept, but not counted: another collector had asked the same conversation, too, and ended it
-- first; else NULL. A column, for a join takes four times as long as reading the trials.
-- The same trials on another occasion (`collect --again`): is it the same tomorrow?
-- `occasion` counts from 2, NULL: the first, which all tables and fits of a study show. `first_trial_id` is the trial that
-- is asked again; the later answer is a trial of its own, so that none replaces another.
-- What an answer was held back or refused for, in the provider's own word; and when its response was read once more by a
-- later slant (`collect reread`), or a rejected trial was opened for another try (`collect --ask-rejected`).
-- What a response says beside its text and its counts: what its reasoning text is, what it wrote into a cache, what it
-- was charged for, under which settings it was made.
-- `reasoning_kind`: raw (the reasoning itself), summary, encrypted, none; NULL if that is not known (imports, failures).
-- Which of the provider's own counts contradict each other, and how; NULL where they agree.
-- Where `cost_usd` is from: provider (what it says that it charged) or list (the price list).
-- Settings that the response itself reports; NULL where it reports none.
-- Answers of people (`collect import --layout people`). `participant` is a running number within a study, never an id of
-- the file's; NULL for models. `response_time_ms` is what the experiment measured from the stimulus to the answer,
-- `is_error` whether the wrong key was pressed first, `phase` practice or test.
CREATE TABLE attempts (
    attempt_id TEXT USING COMPRESSION zstd, run_id TEXT, sequence BIGINT,
    conversation_id TEXT USING COMPRESSION zstd, trial_id TEXT USING COMPRESSION zstd, turn INTEGER, try_no INTEGER,
    is_final BOOLEAN, source TEXT, study TEXT, study_version TEXT, variant TEXT, model TEXT, provider TEXT,
    requested_model TEXT, game TEXT, round INTEGER, repetition INTEGER, position BIGINT, test TEXT, condition TEXT,
    item TEXT USING COMPRESSION zstd, "group" TEXT, wording INTEGER, option_a TEXT, option_b TEXT, expected TEXT,
    factors TEXT USING COMPRESSION zstd, factor_lists MAP(VARCHAR, VARCHAR[]), outcome TEXT,
    answer TEXT USING COMPRESSION zstd, choice TEXT, detail TEXT USING COMPRESSION zstd, tokens BIGINT,
    token_source TEXT, reasoning_tokens BIGINT, reasoning_tokens_recounted BIGINT, output_tokens BIGINT,
    input_tokens BIGINT, reasoning_text TEXT USING COMPRESSION zstd, finish_reason TEXT, served_model TEXT,
    fingerprint TEXT, request_id TEXT USING COMPRESSION zstd, headers TEXT USING COMPRESSION zstd,
    http_status INTEGER, error TEXT USING COMPRESSION zstd, queued_at TIMESTAMP, sent_at TIMESTAMP,
    first_byte_at TIMESTAMP, done_at TIMESTAMP, cost_usd DOUBLE, prompt_hash TEXT USING COMPRESSION zstd,
    request TEXT USING COMPRESSION zstd, response TEXT USING COMPRESSION zstd, option_a_logprob DOUBLE,
    option_b_logprob DOUBLE, logprob_kind TEXT, recount_tokenizer TEXT, cached_input_tokens BIGINT, batch_id TEXT,
    content TEXT, is_repeated BOOLEAN, occasion INTEGER, first_trial_id TEXT, filter_category TEXT,
    read_again_at TIMESTAMP, reasoning_kind TEXT, cache_write_tokens BIGINT, cache_write_1h_tokens BIGINT,
    count_conflict TEXT, price_source TEXT, effective_effort TEXT, effective_temperature DOUBLE, service_tier TEXT,
    participant INTEGER, response_time_ms DOUBLE, is_error BOOLEAN, phase TEXT, page_width_px INTEGER,
    options_direction TEXT
);

-- How the limit of requests in flight moved in a run, and what it waited for: one row an event, in journal order.
CREATE TABLE pace_history (
    run_id TEXT, noted_at TIMESTAMP, model TEXT, event TEXT, request_limit INTEGER, in_flight INTEGER, wait_s DOUBLE,
    detail TEXT
);

-- One `collect check-model MODEL` a row (`run_id` names its journal). `temperature`, `effort` and `seed` hold a finding (acts,
-- no effect seen, rejected …); `answers` is JSON: every question, its answer, its counts and the response as it came.
CREATE TABLE checks (
    run_id TEXT, provider TEXT, requested_model TEXT, settings TEXT, verdict TEXT, reasons TEXT,
    counted TEXT, n_asked INTEGER, n_answered INTEGER, n_right INTEGER, n_counted INTEGER,
    difficulty_correlation DOUBLE, step BIGINT, zero_share DOUBLE, sum_share DOUBLE, readable_share DOUBLE,
    temperature TEXT, effort TEXT, seed TEXT, served_models TEXT,
    answers TEXT, code_version TEXT, checked_at TIMESTAMP
);
