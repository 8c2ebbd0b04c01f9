-- coding_answer_rows: one coding of one answer by a model a row, unordered.
-- grain: trial_id
-- reads: trials, studies
-- design: coding
-- note:  `coder` is the model that codes, `coded_trial_id` the trial whose answer it reads. `first_coding` is what was
--        coded before (a or b; NULL: undecided), `second_coding` what this model says: a, b or neither; NULL if it was
--        refused, cut off or can't be read, as `outcome` says. `factors` is read as text: R's duckdb comes without the
--        json extension.
CREATE OR REPLACE VIEW coding_answer_rows AS
SELECT source, study, study_version, variant, run_id, trial_id, model AS coder, test, condition, repetition, position,
       item AS coded_trial_id, option_a, option_b,
       nullif(regexp_extract(factors, '"first_coding":"([^"]*)"', 1), '') AS first_coding,
       nullif(regexp_extract(factors, '"coding":"([^"]*)"', 1), '') AS second_coding,
       nullif(regexp_extract(factors, '"first_option":"([^"]*)"', 1), '') AS first_option,
       answer, outcome, detail, is_refusal, tokens, token_source, latency_s, cost_usd, served_model,
       served_model_differs
FROM trials
WHERE study IN (SELECT study FROM studies WHERE design = 'coding') AND NOT is_left_out;
