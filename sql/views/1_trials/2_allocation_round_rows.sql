-- allocation_round_rows: one round of a game a row, unordered and unlabelled: what the tables of games count over.
-- grain: trial_id
-- design: allocation
-- inner: yes
-- note:  `choice` is the group that was chosen for the `job` of this `class`, NULL if the game ended here (`outcome`
--        says how). Every study whose trials are rounds of games is here, one's own games too. `history` is the
--        conversation: single rounds that are pooled into one game (`is_pooled` in allocation_games) don't see each other.
--        What a table does not use of `factors` costs it nothing.
CREATE OR REPLACE VIEW allocation_round_rows AS
SELECT source, study, study_version, variant, run_id, trial_id, model, participant, game, conversation_id AS history,
       repetition, round, condition AS class, item AS job,
       CASE WHEN outcome = 'answered' THEN choice END AS choice, expected, outcome, is_refusal, turn,
       map_extract(factor_lists, 'groups_shown')[1][1] AS first_option,
       try_cast(map_extract(factor_lists, 'is_success')[1][1] AS BOOLEAN) AS is_success,
       try_cast(map_extract(factor_lists, 'points')[1][1] AS DOUBLE) AS points,
       try_cast(map_extract(factor_lists, 'bonus')[1][1] AS DOUBLE) AS bonus,
       try_cast(map_extract(factor_lists, 'p_success')[1][1] AS DOUBLE) AS p_success,
       map_extract(factor_lists, 'last_in_class')[1][1] AS last_in_class,
       map_extract(factor_lists, 'answer_format')[1][1] AS answer_format,
       coalesce(try_cast(map_extract(factor_lists, 'reminders')[1][1] AS INTEGER), 0) AS n_reminders,
       map_extract(factor_lists, 'served_model_before')[1] IS NOT NULL AS served_model_changed,
       factors, factor_lists, tokens, reasoning_tokens, output_tokens, reasoning_text, reasoning_kind, count_conflict, latency_s, cost_usd, served_model
FROM trial_rows
WHERE test = 'rounds' AND game IS NOT NULL AND NOT is_left_out;
