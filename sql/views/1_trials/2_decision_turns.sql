-- decision_turns: one turn of a conversation about a decision a row, or one message with all its tasks; unordered.
-- grain: trial_id
-- reads: trials, studies
-- design: decision
-- paper: Bai et al. (2025), relative decision test
-- note:  `tasks` are those of the turn, joined by +: pairing, profiles, decision, question. `attribute_b_to` is the group
--        (a or b) that the decision gives attribute b to. `pair`, `words` and who was first are NULL if an import does
--        not say them. `coded_decision` (1: with the association) and `coded_d` are the codings that an imported file
--        brings. `factors` is read as text: R's duckdb comes without the json extension.
CREATE OR REPLACE VIEW decision_turns AS
SELECT source, study, study_version, variant, run_id, trial_id, coalesce(game, trial_id) AS conversation,
       coalesce(round, 1) AS turn, model, participant, test, condition, wording, item, repetition, position,
       replace(replace(split_part(split_part(factors, '"tasks":["', 2), '"]', 1), '","', '+'), '"', '') AS tasks,
       option_a AS group_a, option_b AS group_b, option_a || ' / ' || option_b AS pair,
       replace(replace(nullif(split_part(split_part(factors, '"attribute_a":"', 2), '","attribute_b":"', 1), ''),
                       '\"', '"'), '\\', '\') AS word_a,
       replace(replace(nullif(regexp_extract(factors, '"attribute_b":"((?:[^"\\]|\\.)*)"', 1), ''),
                       '\"', '"'), '\\', '\') AS word_b,
       nullif(regexp_extract(factors, '"first_group":"([^"]*)"', 1), '') AS first_group,
       nullif(regexp_extract(factors, '"first_attribute":"([^"]*)"', 1), '') AS first_attribute,
       nullif(regexp_extract(factors, '"about":"([^"]*)"', 1), '') AS about,
       answer, outcome, detail, is_refusal, choice,
       nullif(regexp_extract(factors, '"attribute_b_to":"([^"]*)"', 1), '') AS attribute_b_to,
       contains(factors, '"assigned":') AS has_pairs,
       try_cast(regexp_extract(factors, '"coded_decision":([^,}]+)', 1) AS INTEGER) AS coded_decision,
       try_cast(regexp_extract(factors, '"coded_d":([^,}]+)', 1) AS DOUBLE) AS coded_d,
       tokens, token_source, latency_s, cost_usd, served_model, served_model_differs
FROM trials
WHERE study IN (SELECT study FROM studies WHERE design = 'decision') AND NOT is_left_out;
