-- allocation_ratings: one rating of a group after a game a row, unordered.
-- grain: trial_id
-- design: allocation
-- note:  an extension: Wu et al. have ratings of their human participants only. `value` is on a scale from `lowest` to
--        `highest`, NULL if no such number was given. Each was asked for on the same finished game, none saw another.
--        `n_hires` of the group in that game, of which `n_successes` went well: what a rating of it may rest on.
CREATE OR REPLACE VIEW allocation_ratings AS
SELECT source, study, study_version, variant, run_id, trial_id, model, game, repetition,
       condition AS rating, item AS "group", outcome,
       CASE WHEN outcome = 'answered' THEN try_cast(choice AS DOUBLE) END AS value,
       try_cast(map_extract(factor_lists, 'scale')[1][1] AS INTEGER) AS lowest,
       try_cast(map_extract(factor_lists, 'scale')[1][2] AS INTEGER) AS highest,
       try_cast(map_extract(factor_lists, 'n_hires')[1][1] AS INTEGER) AS n_hires,
       try_cast(map_extract(factor_lists, 'n_successes')[1][1] AS INTEGER) AS n_successes,
       answer, reasoning_text, reasoning_kind
FROM trial_rows
WHERE test = 'ratings' AND game IS NOT NULL AND NOT is_left_out;
