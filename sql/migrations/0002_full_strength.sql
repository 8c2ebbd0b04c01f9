-- The collector at full strength: graded answers, second counts, checks of models.

-- Log-probabilities of the two options (`--logprobs`): natural logarithms; `logprob_kind` says exact or first_token.
ALTER TABLE attempts ADD COLUMN option_a_logprob DOUBLE;
ALTER TABLE attempts ADD COLUMN option_b_logprob DOUBLE;
ALTER TABLE attempts ADD COLUMN logprob_kind TEXT;

-- Which tokenizer `reasoning_tokens_recounted` comes from (`collect recount`).
ALTER TABLE attempts ADD COLUMN recount_tokenizer TEXT;

-- One `collect check MODEL` a row (`run_id` names its journal). `temperature`, `effort` and `seed` hold a finding (acts,
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

-- Money and provenance. `cost_usd` is there since 0001; `price` is the row of the price list it was reckoned with (JSON).
-- `sent` and `left_to_default` say which parameters a model was given and which were the provider's; `prompt_hash` is
-- that of the first prompt of the plan. `study_file` is NULL for a study that ships with slant.
ALTER TABLE attempts ADD COLUMN cached_input_tokens BIGINT;
ALTER TABLE runs ADD COLUMN study_title TEXT;
ALTER TABLE runs ADD COLUMN study_source TEXT;
ALTER TABLE runs ADD COLUMN study_file TEXT;
ALTER TABLE runs ADD COLUMN git_commit TEXT;
ALTER TABLE run_models ADD COLUMN base_url TEXT;
ALTER TABLE run_models ADD COLUMN api_version TEXT;
ALTER TABLE run_models ADD COLUMN sent TEXT;
ALTER TABLE run_models ADD COLUMN left_to_default TEXT;
ALTER TABLE run_models ADD COLUMN prompt_hash TEXT;
ALTER TABLE run_models ADD COLUMN price TEXT;

-- The provider's name of the batch job that an answer came in; NULL for a live request.
ALTER TABLE attempts ADD COLUMN batch_id TEXT;
