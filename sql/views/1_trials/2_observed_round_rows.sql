-- observed_round_rows: one round of a game that no design here plays a row, unordered and unlabelled.
-- grain: trial_id
-- reads: trials, studies
-- design: observed
-- note:  `action` is what was done. `names` and `levels` are the further columns that the study names, as in the file.
--        `factors` is read as text: R's duckdb comes without the json extension.
CREATE OR REPLACE VIEW observed_round_rows AS
SELECT source, study, study_version, variant, run_id, trial_id, model, participant, test, game, round, repetition,
       CASE WHEN outcome = 'answered' THEN choice END AS action, outcome, is_refusal, response_time_ms, latency_s,
       string_split(split_part(split_part(factors, '"names":["', 2), '"],"levels":["', 1), '","') AS names,
       string_split(split_part(split_part(factors, '"levels":["', 2), '"]', 1), '","') AS levels
FROM trials
WHERE study IN (SELECT study FROM studies WHERE design = 'observed') AND NOT is_left_out;
