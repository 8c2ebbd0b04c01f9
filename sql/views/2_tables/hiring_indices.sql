-- hiring_indices: SI, BGD, GASI, mutual information and success of each model and variant, over its complete games.
-- grain: source, study, study_version, variant, model
-- reads: hiring_game_indices, hiring_games, hiring_counts
-- design: allocation
-- note:  Wu et al., figures 2, 3, 7, 8, 13 and Table 1. Means over games of hiring_game_indices, with the standard
--        deviation (n - 1) of SI and BGD. `gasi` is the mean over groups of the mean Jensen-Shannon distance (natural
--        logarithms, at most 0.8326) between that group's distributions over the classes in two games, over all pairs
--        of games in which it was hired; the text's divergence in base 2 is `gasi_divergence_bits`. A cell of one game
--        has none. Games that are not complete are counted in `n_incomplete` only. Chance alone gives more than 0: R's
--        random_level() says how much. Intervals: R's hiring_indices(). The work grows with the square of the games
--        in a cell: 30 are nothing, thousands take minutes.
CREATE OR REPLACE VIEW hiring_indices AS
WITH cells AS MATERIALIZED (
    SELECT source, study, study_version, variant, model,
           min(n_rounds) AS n_rounds, min(n_groups) AS n_groups, min(n_classes) AS n_classes,
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
), pairs AS (  -- those games in which the group shares a class; what they don't share adds up to ln 2
    SELECT a.cell_no, a."group",
           greatest(ln(2) + sum(a.p * ln(a.p / (a.p + b.p)) + b.p * ln(b.p / (a.p + b.p))) / 2, 0) AS divergence
    FROM shares a
    JOIN shares b ON b.cell_no = a.cell_no AND b."group" = a."group" AND b.class = a.class AND b.game_no > a.game_no
    GROUP BY a.cell_no, a."group", a.game_no, b.game_no
), of_pairs AS (
    SELECT cell_no, "group", count(*) AS n, sum(sqrt(divergence)) AS distances, sum(divergence) AS divergences
    FROM pairs
    GROUP BY cell_no, "group"
), hired AS (
    SELECT cell_no, "group", count(DISTINCT game_no) AS n_hired, n_hired * (n_hired - 1) / 2 AS n_all
    FROM shares
    GROUP BY cell_no, "group"
), of_groups AS (
    SELECT h.cell_no, h.n_all - coalesce(p.n, 0) AS n_apart,
           (coalesce(p.distances, 0) + n_apart * sqrt(ln(2))) / h.n_all AS distance,
           (coalesce(p.divergences, 0) / ln(2) + n_apart) / h.n_all AS divergence_bits
    FROM hired h
    LEFT JOIN of_pairs p USING (cell_no, "group")
    WHERE h.n_hired > 1
), gasi AS (
    SELECT cell_no, avg(distance) AS gasi, avg(divergence_bits) AS gasi_divergence_bits
    FROM of_groups
    GROUP BY cell_no
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.n_rounds, c.n_groups, c.n_classes,
       c.n_games, c.n_incomplete, c.si, c.si_sd, c.bgd, c.bgd_sd, g.gasi, c.mutual_information_bits,
       c.bgd_divergence_bits, g.gasi_divergence_bits, c.success_rate
FROM cells c
LEFT JOIN gasi g USING (cell_no)
ORDER BY c.source, c.study, c.study_version, c.variant, c.model;
