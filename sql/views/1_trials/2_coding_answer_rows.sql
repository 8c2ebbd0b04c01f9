-- coding_answer_rows: one coding of one answer by a model, or by a person, a row, unordered.
-- grain: trial_id
-- reads: trial_rows, studies
-- design: coding
-- inner: yes
-- note:  `coder` is the model that codes, or the person by number; `coded_trial_id` the trial whose answer it reads. `first_coding` is what was
--        coded before (a or b; NULL: undecided), `second_coding` what this model says: a, b or neither; NULL if it was
--        refused, cut off or can't be read, as `outcome` says.
CREATE OR REPLACE VIEW coding_answer_rows AS
SELECT source, study, study_version, variant, run_id, trial_id,
       CASE WHEN participant IS NULL THEN model ELSE model || ' ' || participant END AS coder,
       test, condition, repetition, position,
       item AS coded_trial_id, option_a, option_b,
       map_extract(factor_lists, 'first_coding')[1][1] AS first_coding,
       map_extract(factor_lists, 'coding')[1][1] AS second_coding,
       map_extract(factor_lists, 'first_option')[1][1] AS first_option,
       answer, outcome, detail, is_refusal, tokens, token_source, latency_s, cost_usd, served_model,
       served_model_differs
FROM trial_rows
WHERE study IN (SELECT study FROM studies WHERE design = 'coding') AND NOT is_left_out;
