-- observed_round_rows: one round of a game that no design here plays a row, unordered and unlabelled.
-- grain: trial_id
-- design: observed
-- inner: yes
-- note:  `action` is what was done. `names` and `levels` are the further columns that the study names, as in the file.
CREATE OR REPLACE VIEW observed_round_rows AS
SELECT source, study, study_version, variant, run_id, trial_id, model, participant, test, game, round, repetition,
       CASE WHEN outcome = 'answered' THEN choice END AS action, outcome, is_refusal, response_time_ms, latency_s,
       map_extract(factor_lists, 'names')[1] AS names, map_extract(factor_lists, 'levels')[1] AS levels
FROM trial_rows
WHERE study IN (SELECT study FROM studies WHERE design = 'observed') AND NOT is_left_out;
