-- decision_turns: one turn of a conversation about a decision a row, or one message with all its tasks; unordered.
-- grain: trial_id
-- design: decision
-- paper: Bai et al. (2025), relative decision test
-- note:  `tasks` are those of the turn, joined by +: pairing, profiles, decision, question. `attribute_b_to` is the group
--        (a or b) that the decision gives attribute b to. `pair`, `words` and who was first are NULL if an import does
--        not say them. `coded_decision` (1: with the association) and `coded_d` are the codings that an imported file
--        brings.
CREATE OR REPLACE VIEW decision_turns AS
SELECT source, study, study_version, variant, run_id, trial_id, coalesce(game, trial_id) AS conversation,
       coalesce(round, 1) AS turn, model, participant, test, condition, wording, item, repetition, position,
       coalesce(array_to_string(map_extract(factor_lists, 'tasks')[1], '+'), '') AS tasks,
       option_a AS group_a, option_b AS group_b, option_a || ' / ' || option_b AS pair,
       nullif(map_extract(factor_lists, 'attribute_a')[1][1], '') AS word_a,
       nullif(map_extract(factor_lists, 'attribute_b')[1][1], '') AS word_b,
       map_extract(factor_lists, 'first_group')[1][1] AS first_group,
       map_extract(factor_lists, 'first_attribute')[1][1] AS first_attribute,
       map_extract(factor_lists, 'about')[1][1] AS about,
       answer, outcome, detail, is_refusal, choice,
       map_extract(factor_lists, 'attribute_b_to')[1][1] AS attribute_b_to,
       map_extract(factor_lists, 'assigned')[1] IS NOT NULL AS has_pairs,
       try_cast(map_extract(factor_lists, 'coded_decision')[1][1] AS INTEGER) AS coded_decision,
       try_cast(map_extract(factor_lists, 'coded_d')[1][1] AS DOUBLE) AS coded_d,
       tokens, token_source, latency_s, cost_usd, served_model, served_model_differs
FROM trial_rows
WHERE study IN (SELECT study FROM studies WHERE design = 'decision') AND NOT is_left_out;
