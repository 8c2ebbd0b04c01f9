-- allocation_rating_means: how each model rates the groups after a game, by group.
-- grain: source, study, study_version, variant, model, rating, group
-- order: source, study, study_version, variant, model, rating, "group"
-- design: allocation
-- note:  an extension: Wu et al. have ratings of their human participants only. `n` games in which the group got a number
--        from `lowest` to `highest`, `n_without` in which it got none. Which group does well is a matter of luck in each
--        game, so that groups differ here only by what a model thinks of their names; what a game has made of them is in
--        allocation_rating_by_class.
CREATE OR REPLACE VIEW allocation_rating_means AS
SELECT source, study, study_version, variant, model, rating, "group",
       avg(value) AS mean_rating, stddev_samp(value) AS sd_rating,
       count(value) AS n, count(*) - count(value) AS n_without,
       min(lowest) AS lowest, max(highest) AS highest
FROM allocation_ratings
GROUP BY source, study, study_version, variant, model, rating, "group";
