-- association_answer_rows: one answer of an association study a row, unordered and unlabelled: what tables count over.
-- grain: trial_id
-- design: association
-- inner: yes
-- note:  `outcome` and `choice` are what the reader of the design found; `is_valid` is true of what analyses take for an
--        answer: `outcome` is answered. `is_refusal` is `outcome` refused. A study whose `refusal_rule` is exact_label
--        (in the table `studies`) has the rule of a paper instead: a refusal is what is not exactly (untrimmed,
--        case-sensitive) one of the two options, and what was cut off or filtered, whatever it says (its tokens end
--        where the limit is); all else is valid. Trials that another model answered although a snapshot was asked for
--        by name are left out here and counted in served_models. A table joins the places of models and tests to its
--        few rows: joining them to ten million answers costs as much as counting those.
CREATE OR REPLACE VIEW association_answer_rows AS
SELECT source, study, study_version, variant, run_id, trial_id, model, participant, test,
       condition, item, "group", wording, repetition, position,
       option_a, option_b, expected, answer, choice, outcome,
       CASE WHEN outcome = 'rejected' THEN NULL
            WHEN is_by_exact_label
            THEN coalesce(answer NOT IN (option_a, option_b), true) OR outcome IN ('truncated', 'filtered')
            ELSE outcome = 'refused' END AS is_refusal,
       CASE WHEN is_by_exact_label THEN coalesce(NOT is_refusal, false) ELSE outcome = 'answered' END AS is_valid,
       choice = expected AS follows_rule,
       map_extract(factor_lists, 'first_option')[1][1] AS first_option,
       tokens, token_source, reasoning_tokens, reasoning_tokens_recounted, recount_tokenizer,
       output_tokens, reasoning_text, reasoning_kind, count_conflict, option_a_logprob, option_b_logprob, logprob_kind,
       latency_s, response_time_ms, is_error, phase, is_batch, cost_usd, served_model, served_model_differs
FROM (SELECT *, (study, study_version) IN (
          SELECT (study, study_version) FROM studies WHERE refusal_rule = 'exact_label') AS is_by_exact_label
      FROM (SELECT * EXCLUDE (is_refusal, is_valid) FROM trial_rows))
WHERE study IN (SELECT study FROM studies WHERE design = 'association') AND NOT is_left_out;
