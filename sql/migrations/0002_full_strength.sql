-- The collector at full strength: graded answers, second counts, checks of models.

-- Log-probabilities of the two options (`--logprobs`): natural logarithms; `logprob_kind` says exact or first_token.
ALTER TABLE attempts ADD COLUMN option_a_logprob DOUBLE;
ALTER TABLE attempts ADD COLUMN option_b_logprob DOUBLE;
ALTER TABLE attempts ADD COLUMN logprob_kind TEXT;

-- Which tokenizer `reasoning_tokens_recounted` comes from (`collect recount`).
ALTER TABLE attempts ADD COLUMN recount_tokenizer TEXT;

-- One `collect check MODEL` a row. `temperature`, `effort` and `seed` hold a finding (acts, no effect, rejected …);
-- `answers` is JSON: every question, its answer, its counts and the response as it came.
CREATE TABLE checks (
    check_id TEXT, provider TEXT, requested_model TEXT, settings TEXT, verdict TEXT, reasons TEXT,
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
