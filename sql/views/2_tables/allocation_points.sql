-- allocation_points: what each model earned in a game, and how often it chose the group that brings most.
-- grain: source, study, study_version, variant, model
-- order: source, study, study_version, variant, model
-- design: allocation
-- note:  over complete games. `mean_points` and `sd_points` (n - 1) are of the points of a whole game, bonus included;
--        NULL if a study has no points. `best_share` is the share of rounds in which the group was chosen that brings
--        most on average (chance times worth, less what failures cost), of the `n_with_best` rounds in which one does.
CREATE OR REPLACE VIEW allocation_points AS
WITH played AS (
    SELECT source, study, study_version, variant, model, game, sum(points) AS points,
           count(expected) AS n_with_best, count(*) FILTER (choice = expected) AS n_best
    FROM allocation_round_rows
    GROUP BY source, study, study_version, variant, model, game
)
SELECT source, study, study_version, variant, model, count(*) AS n_games,
       avg(points) AS mean_points, stddev_samp(points) AS sd_points,
       sum(n_with_best)::BIGINT AS n_with_best, sum(n_best) / nullif(sum(n_with_best), 0) AS best_share
FROM played
JOIN allocation_games g USING (source, study, study_version, variant, model, game)
WHERE g.is_complete
GROUP BY source, study, study_version, variant, model;
