-- association_answer_rows: one answer of an association study a row, unordered and unlabelled: what tables count over.
-- grain: trial_id
-- reads: trials, studies
-- design: association
-- note:  `is_refusal` is the paper's rule: the answer is not exactly (untrimmed, case-sensitive) one of the two
--        options. So is an answer that was cut off or filtered, whatever it says: its tokens end where the limit is.
--        (The authors' data have no such outcomes.) `outcome` and `choice` are our own, finer reading of the same
--        answer. Trials that another model answered although a snapshot was asked for by name are left out here and
--        counted in served_models. A table joins the places of models and tests to its few rows: joining them to ten
--        million answers costs as much as counting those.
CREATE OR REPLACE VIEW association_answer_rows AS
SELECT source, study, study_version, variant, run_id, trial_id, model, test,
       condition, item, "group", wording, repetition, position,
       option_a, option_b, expected, answer, choice, outcome,
       CASE WHEN outcome <> 'rejected'
            THEN coalesce(answer NOT IN (option_a, option_b), true) OR outcome IN ('truncated', 'filtered') END AS is_refusal,
       choice = expected AS follows_rule,
       nullif(regexp_extract(factors, '"first_option":"([^"]*)"', 1), '') AS first_option,
       tokens, token_source, reasoning_tokens, reasoning_tokens_recounted, recount_tokenizer,
       output_tokens, reasoning_text, reasoning_kind, count_conflict, option_a_logprob, option_b_logprob, logprob_kind,
       latency_s, is_batch, cost_usd, served_model, served_model_differs
FROM trials
WHERE study IN (SELECT study FROM studies WHERE design = 'association') AND NOT is_left_out;
