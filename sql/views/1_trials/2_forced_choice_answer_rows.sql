-- forced_choice_answer_rows: one answer of a forced choice a row, unordered and unlabelled: what tables count over.
-- grain: trial_id
-- design: forced_choice
-- inner: yes
-- note:  `is_valid`: the reader found exactly one clear choice; refused, filtered, cut off and malformed answers are
--        not, and what failed for good is no row. `is_consistent` (the pair that was chosen contains the word's own
--        group) is NULL if the answer is not valid, and where its choice can't be coded (consistency_by_condition
--        counts that). `p_consistent` comes from the log-probabilities of the two options, of valid answers or not.
--        `block_position`: its block (the trials of a condition, asked one after the other) is the first or the second
--        of the test. Trials that another model answered although a snapshot was asked for by name are left out here
--        and counted in served_models.
CREATE OR REPLACE VIEW forced_choice_answer_rows AS
SELECT source, study, study_version, variant, run_id, trial_id, model, participant, test,
       condition, test || ': ' || item AS item, item AS word, "group",
       map_extract(factor_lists, 'tier')[1][1] AS tier,
       wording, repetition, position,
       try_cast(map_extract(factor_lists, 'block_position')[1][1] AS INTEGER) AS block_position,
       try_cast(map_extract(factor_lists, 'position_in_block')[1][1] AS INTEGER) AS position_in_block,
       option_a, option_b,
       CASE expected WHEN option_a THEN 'A' WHEN option_b THEN 'B' END AS consistent_letter,
       CASE choice WHEN option_a THEN 'A' WHEN option_b THEN 'B' END AS chosen_letter,
       answer, outcome,
       is_valid, is_refusal, option_a AS first_option,
       CASE WHEN outcome = 'answered' THEN chosen_letter = consistent_letter END AS is_consistent,
       -- the same as exp(a) / (exp(a) + exp(b)), which is 0 / 0 where both are tiny
       CASE consistent_letter
           WHEN 'A' THEN 1 / (1 + exp(option_b_logprob - option_a_logprob))
           WHEN 'B' THEN 1 / (1 + exp(option_a_logprob - option_b_logprob))
       END AS p_consistent,
       option_a_logprob, option_b_logprob, logprob_kind,
       coalesce(map_extract(factor_lists, 'structured_output')[1][1] = 'true', false) AS structured_output,
       tokens, token_source, latency_s, response_time_ms, is_error, phase, cost_usd, served_model, served_model_differs
FROM trial_rows
WHERE study IN (SELECT study FROM studies WHERE design = 'forced_choice') AND NOT is_left_out;
