-- allocation_gasi: how differently each group fares from game to game: GASI of each model and variant, unordered.
-- grain: source, study, study_version, variant, model
-- design: allocation
-- note:  over complete games; allocation_indices says what it is and shows it next to the others. Pairs are made of
--        distributions, not of games: the work grows with the square of how many different ones a group has, and
--        thousands of games have some hundred.
CREATE OR REPLACE VIEW allocation_gasi AS
WITH games AS MATERIALIZED (
    SELECT source, study, study_version, variant, model, game,
           row_number() OVER (ORDER BY source, study, study_version, variant, model, game) AS game_no,
           dense_rank() OVER (ORDER BY source, study, study_version, variant, model) AS cell_no
    FROM allocation_games
    WHERE is_complete
), shares AS MATERIALIZED (
    SELECT g.cell_no, g.game_no, c."group", c.class,
           c.n / sum(c.n) OVER (PARTITION BY g.game_no, c."group")::DOUBLE AS p
    FROM allocation_counts c
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
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, g.gasi, g.gasi_divergence_bits
FROM gasi g
JOIN (SELECT DISTINCT cell_no, source, study, study_version, variant, model FROM games) c USING (cell_no);
