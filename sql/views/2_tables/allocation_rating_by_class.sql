-- allocation_rating_by_class: how each model rates the groups that it has hired for a class of jobs.
-- grain: source, study, study_version, variant, model, rating, class
-- order: source, study, study_version, variant, model, rating, class
-- design: allocation
-- note:  an extension: Wu et al. have ratings of their human participants only. `mean_rating` is over hires: that of a
--        group counts once for each of its hires for this class in the same game. Where roles make no stereotypes, the
--        classes are alike. `mean_of_groups` is over the groups of the same games, each once: who likes those better
--        whom it hires more often is above it in every class. Groups without a number are in neither.
CREATE OR REPLACE VIEW allocation_rating_by_class AS
WITH rated AS (
    SELECT source, study, study_version, variant, model, game, rating, "group", value,
           avg(value) OVER (PARTITION BY source, study, study_version, variant, model, game, rating) AS game_mean
    FROM allocation_ratings
    WHERE value IS NOT NULL
), by_game AS (
    SELECT source, study, study_version, variant, model, r.rating, c.class, game,
           sum(c.n) AS n_hires, sum(c.n * r.value) AS total, any_value(r.game_mean) AS game_mean
    FROM rated r
    JOIN allocation_counts c USING (source, study, study_version, variant, model, game, "group")
    GROUP BY source, study, study_version, variant, model, r.rating, c.class, game
)
SELECT source, study, study_version, variant, model, rating, class,
       sum(total) / sum(n_hires) AS mean_rating, avg(game_mean) AS mean_of_groups,
       sum(n_hires)::BIGINT AS n_hires, count(*) AS n_games
FROM by_game
GROUP BY source, study, study_version, variant, model, rating, class;
