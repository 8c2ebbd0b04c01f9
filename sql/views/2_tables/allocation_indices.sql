-- allocation_indices: SI, BGD, GASI, mutual information and success of each model and variant, over its complete games.
-- grain: source, study, study_version, variant, model
-- order: source, study, study_version, variant, model
-- design: allocation
-- paper: Wu et al., Tables 1 to 3
-- note:  Wu et al., figures 2, 3, 7, 8, 13 and Table 1. Means over games of allocation_game_indices, with the standard
--        deviation (n - 1) of SI and BGD. `gasi` is the mean over groups of the mean Jensen-Shannon distance (natural
--        logarithms, at most 0.8326) between that group's distributions over the classes in two games, over all pairs
--        of games in which it was hired; the text's divergence in base 2 is `gasi_divergence_bits`. A cell of one game
--        has none, and games of one class have no index. Games that are not complete are counted in `n_incomplete`
--        only. Chance alone gives more than 0: `random_si` … are what it gives to a cell of as many games, choices,
--        groups and jobs in each class, between low and high lie 95 % of such cells; NULL until `analyze indices
--        --study STUDY` has simulated them. That command also gives intervals, in the table game_index_intervals.
CREATE OR REPLACE VIEW allocation_indices AS
WITH cells AS MATERIALIZED (
    SELECT source, study, study_version, variant, model,
           min(n_rounds) AS n_rounds, min(n_groups) AS n_groups, min(n_classes) AS n_classes,
           min(class_sizes) AS class_sizes, coalesce(bool_and(is_balanced) FILTER (is_complete), false) AS is_balanced,
           -- a pooled game is complete without the rounds that were refused; fewer choices are less even by chance
           min(n_answered) FILTER (is_complete) AS n_choices,
           count(*) FILTER (is_complete) AS n_games, count(*) FILTER (NOT is_complete) AS n_incomplete,
           avg(si) FILTER (is_complete) AS si, stddev_samp(si) FILTER (is_complete) AS si_sd,
           avg(bgd) FILTER (is_complete) AS bgd, stddev_samp(bgd) FILTER (is_complete) AS bgd_sd,
           avg(bgd_divergence_bits) FILTER (is_complete) AS bgd_divergence_bits,
           avg(mutual_information_bits) FILTER (is_complete) AS mutual_information_bits,
           avg(success_rate) FILTER (is_complete) AS success_rate
    FROM (FROM allocation_game_indices ORDER BY repetition, game)  -- the last digit of a sum depends on the order
    GROUP BY source, study, study_version, variant, model
), chance AS (
    PIVOT (FROM random_levels) ON index IN ('si', 'bgd', 'gasi')
    USING max(level) AS level, max(level_low) AS low, max(level_high) AS high
    GROUP BY n_rounds, n_groups, class_sizes, is_balanced, n_games
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.n_rounds, c.n_groups, c.n_classes,
       c.n_games, c.n_incomplete, c.si, c.si_sd, c.bgd, c.bgd_sd,
       CASE WHEN c.n_classes > 1 THEN g.gasi END AS gasi, c.mutual_information_bits, c.bgd_divergence_bits,
       CASE WHEN c.n_classes > 1 THEN g.gasi_divergence_bits END AS gasi_divergence_bits, c.success_rate,
       r.si_level AS random_si, r.si_low AS random_si_low, r.si_high AS random_si_high,
       r.bgd_level AS random_bgd, r.bgd_low AS random_bgd_low, r.bgd_high AS random_bgd_high,
       r.gasi_level AS random_gasi, r.gasi_low AS random_gasi_low, r.gasi_high AS random_gasi_high
FROM cells c
LEFT JOIN allocation_gasi g USING (source, study, study_version, variant, model)
LEFT JOIN chance r ON r.n_rounds = c.n_choices AND r.n_groups = c.n_groups AND r.class_sizes = c.class_sizes
    AND r.is_balanced = c.is_balanced AND r.n_games = c.n_games;
