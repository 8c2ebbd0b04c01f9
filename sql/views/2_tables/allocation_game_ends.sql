-- allocation_game_ends: how many games of each model were played to their end, and how the others ended.
-- grain: source, study, study_version, variant, model
-- order: source, study, study_version, variant, model
-- design: allocation
-- note:  `n_open` can still be played on: the same `collect` command does. `n_model_changed` games were answered by
--        more than one served model. `last_round_median` is of the games that ended early.
CREATE OR REPLACE VIEW allocation_game_ends AS
SELECT source, study, study_version, variant, model, count(*) AS n_games,
       count(*) FILTER (is_complete) AS n_complete,
       count(*) FILTER (NOT is_complete AND ended_as IS NULL) AS n_open,
       count(*) FILTER (NOT is_complete AND ended_as = 'refused') AS n_refused,
       count(*) FILTER (NOT is_complete AND ended_as = 'malformed') AS n_malformed,
       count(*) FILTER (NOT is_complete AND ended_as NOT IN ('refused', 'malformed')) AS n_ended_otherwise,
       median(n_asked) FILTER (NOT is_complete AND ended_as IS NOT NULL) AS last_round_median,
       count(*) FILTER (served_model_changed) AS n_model_changed
FROM allocation_games
GROUP BY source, study, study_version, variant, model;
