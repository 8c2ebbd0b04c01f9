-- hiring_indices: SI, BGD, GASI, mutual information and success of each model and variant, over its complete games.
-- grain: source, study, study_version, variant, model
-- reads: hiring_game_indices, hiring_games, hiring_counts, random_levels
-- design: allocation
-- paper: Tables 1 to 3
-- note:  Wu et al., figures 2, 3, 7, 8, 13 and Table 1. Means over games of hiring_game_indices, with the standard
--        deviation (n - 1) of SI and BGD. `gasi` is the mean over groups of the mean Jensen-Shannon distance (natural
--        logarithms, at most 0.8326) between that group's distributions over the classes in two games, over all pairs
--        of games in which it was hired; the text's divergence in base 2 is `gasi_divergence_bits`. A cell of one game
--        has none. Games that are not complete are counted in `n_incomplete` only. Chance alone gives more than 0:
--        `random_si` … are what it gives to a cell of as many games, rounds, groups and jobs in each class, between
--        low and high lie 95 % of such cells; NULL until `analyze indices --study STUDY` has simulated them. That
--        command also gives intervals, in the table game_index_intervals.
CREATE OR REPLACE VIEW hiring_indices AS
WITH cells AS MATERIALIZED (
    SELECT source, study, study_version, variant, model,
           min(n_rounds) AS n_rounds, min(n_groups) AS n_groups, min(n_classes) AS n_classes,
           min(class_sizes) AS class_sizes, bool_and(is_balanced) AS is_balanced,
           count(*) FILTER (is_complete) AS n_games, count(*) FILTER (NOT is_complete) AS n_incomplete,
           avg(si) FILTER (is_complete) AS si, stddev_samp(si) FILTER (is_complete) AS si_sd,
           avg(bgd) FILTER (is_complete) AS bgd, stddev_samp(bgd) FILTER (is_complete) AS bgd_sd,
           avg(bgd_divergence_bits) FILTER (is_complete) AS bgd_divergence_bits,
           avg(mutual_information_bits) FILTER (is_complete) AS mutual_information_bits,
           avg(success_rate) FILTER (is_complete) AS success_rate,
           row_number() OVER (ORDER BY source, study, study_version, variant, model) AS cell_no
    FROM hiring_game_indices
    GROUP BY source, study, study_version, variant, model
), games AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY source, study, study_version, variant, model, game) AS game_no
    FROM hiring_games
    JOIN cells USING (source, study, study_version, variant, model)
    WHERE is_complete
), shares AS MATERIALIZED (
    SELECT g.cell_no, g.game_no, c."group", c.class,
           c.n / sum(c.n) OVER (PARTITION BY g.game_no, c."group")::DOUBLE AS p
    FROM hiring_counts c
    JOIN games g USING (source, study, study_version, variant, model, game)
), distributions AS MATERIALIZED (  -- each once, with the games that share it: thousands of games have few
    SELECT cell_no, "group", min(game_no) AS game_no, count(*) AS n_games
    FROM (SELECT cell_no, "group", game_no, list((class, p) ORDER BY class) AS shape FROM shares GROUP BY ALL)
    GROUP BY cell_no, "group", shape
), kinds AS MATERIALIZED (
    SELECT s.cell_no, s."group", s.game_no, s.class, s.p, d.n_games
    FROM shares s
    JOIN distributions d USING (cell_no, "group", game_no)
), pairs AS (  -- those that share a class; what two don't share adds up to ln 2
    SELECT a.cell_no, a."group", any_value(a.n_games * b.n_games) AS n,
           greatest(ln(2) + sum(a.p * ln(a.p / (a.p + b.p)) + b.p * ln(b.p / (a.p + b.p))) / 2, 0) AS divergence
    FROM kinds a
    JOIN kinds b ON b.cell_no = a.cell_no AND b."group" = a."group" AND b.class = a.class AND b.game_no > a.game_no
    GROUP BY a.cell_no, a."group", a.game_no, b.game_no
), of_pairs AS (
    SELECT cell_no, "group", sum(n) AS n, sum(n * sqrt(divergence)) AS distances, sum(n * divergence) AS divergences
    FROM pairs
    GROUP BY cell_no, "group"
), hired AS (  -- pairs of games with one and the same distribution are 0 apart
    SELECT cell_no, "group", sum(n_games) AS n_hired, n_hired * (n_hired - 1) / 2 AS n_all,
           sum(n_games * (n_games - 1) / 2) AS n_alike
    FROM distributions
    GROUP BY cell_no, "group"
), of_groups AS (
    SELECT h.cell_no, h.n_all - h.n_alike - coalesce(p.n, 0) AS n_apart,
           (coalesce(p.distances, 0) + n_apart * sqrt(ln(2))) / h.n_all AS distance,
           (coalesce(p.divergences, 0) / ln(2) + n_apart) / h.n_all AS divergence_bits
    FROM hired h
    LEFT JOIN of_pairs p USING (cell_no, "group")
    WHERE h.n_hired > 1
), gasi AS (
    SELECT cell_no, avg(distance) AS gasi, avg(divergence_bits) AS gasi_divergence_bits
    FROM of_groups
    GROUP BY cell_no
), chance AS (
    PIVOT random_levels ON index IN ('si', 'bgd', 'gasi')
    USING max(level) AS level, max(level_low) AS low, max(level_high) AS high
    GROUP BY n_rounds, n_groups, class_sizes, is_balanced, n_games
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.n_rounds, c.n_groups, c.n_classes,
       c.n_games, c.n_incomplete, c.si, c.si_sd, c.bgd, c.bgd_sd, g.gasi, c.mutual_information_bits,
       c.bgd_divergence_bits, g.gasi_divergence_bits, c.success_rate,
       r.si_level AS random_si, r.si_low AS random_si_low, r.si_high AS random_si_high,
       r.bgd_level AS random_bgd, r.bgd_low AS random_bgd_low, r.bgd_high AS random_bgd_high,
       r.gasi_level AS random_gasi, r.gasi_low AS random_gasi_low, r.gasi_high AS random_gasi_high
FROM cells c
LEFT JOIN gasi g USING (cell_no)
LEFT JOIN chance r USING (n_rounds, n_groups, class_sizes, is_balanced, n_games)
ORDER BY c.source, c.study, c.study_version, c.variant, c.model;
