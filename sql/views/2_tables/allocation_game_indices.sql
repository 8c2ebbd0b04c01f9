-- allocation_game_indices: how stratified each game became: SI, BGD and the mutual information of its allocation matrix.
-- grain: source, study, study_version, variant, model, game
-- order: source, study, study_version, variant, model, repetition, game
-- design: allocation
-- note:  p_g is a group's distribution over the classes, over its hires. `si` = log2(number of classes of the study)
--        minus the unweighted mean of p_g's entropy (bits) over the groups hired at least once. `bgd` is the mean
--        Jensen-Shannon distance (the root of the divergence in natural logarithms: at most 0.8326) over the distinct
--        pairs of hired groups, as the paper's numbers come out; `bgd_divergence_bits` is what its text says, the
--        divergence in base 2 (at most 1). NULL if one group only was hired; all of them are NULL in a game of one
--        class, where nothing can be stratified. `mutual_information_bits` is that of group and class over the rounds:
--        equal to `si` only where classes come alike often and groups are weighted.
CREATE OR REPLACE VIEW allocation_game_indices AS
WITH games AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY source, study, study_version, variant, model, game) AS game_no
    FROM allocation_games
), counts AS MATERIALIZED (
    SELECT g.game_no, c.class, c."group", c.n,
           sum(c.n) OVER (PARTITION BY g.game_no, c."group")::DOUBLE AS n_of_group
    FROM allocation_counts c
    JOIN games g USING (source, study, study_version, variant, model, game)
), of_groups AS (
    SELECT game_no, "group", sum(n) AS n, log2(sum(n)) - sum(n * log2(n)) / sum(n) AS entropy, sum(n * log2(n)) AS cells
    FROM counts
    GROUP BY game_no, "group"
), of_games AS (
    SELECT game_no, sum(n) AS n, count(*) AS n_hired, avg(entropy) AS mean_entropy,
           sum(cells) AS cells, sum(n * log2(n)) AS margin
    FROM of_groups
    GROUP BY game_no
), of_classes AS (
    SELECT game_no, sum(n * log2(n)) AS margin
    FROM (SELECT game_no, class, sum(n) AS n FROM counts GROUP BY game_no, class)
    GROUP BY game_no
), pairs AS (  -- those that share a class; what two groups don't share adds up to ln 2
    SELECT a.game_no, greatest(ln(2) + sum(
               a.n / a.n_of_group * ln(a.n / a.n_of_group / (a.n / a.n_of_group + b.n / b.n_of_group))
               + b.n / b.n_of_group * ln(b.n / b.n_of_group / (a.n / a.n_of_group + b.n / b.n_of_group))
           ) / 2, 0) AS divergence
    FROM counts a
    JOIN counts b ON b.game_no = a.game_no AND b.class = a.class AND b."group" > a."group"
    GROUP BY a.game_no, a."group", b."group"
), of_pairs AS (
    SELECT game_no, count(*) AS n_pairs, sum(sqrt(divergence)) AS distances, sum(divergence) AS divergences
    FROM pairs
    GROUP BY game_no
), summed AS (
    SELECT h.*, h.n_hired * (h.n_hired - 1) / 2 AS n_all, n_all - coalesce(p.n_pairs, 0) AS n_apart,
           coalesce(p.distances, 0) AS distances, coalesce(p.divergences, 0) AS divergences
    FROM of_games h
    LEFT JOIN of_pairs p USING (game_no)
)
SELECT g.source, g.study, g.study_version, g.variant, g.model, g.game, g.repetition, g.answer_format, g.is_complete,
       g.ended_as, g.n_rounds, g.n_answered, g.n_groups, g.n_classes, coalesce(s.n_hired, 0) AS n_groups_hired,
       -- greatest() alone would make 0 of what is unknown, in a game without a choice
       CASE WHEN s.n > 0 AND g.n_classes > 1 THEN greatest(log2(g.n_classes) - s.mean_entropy, 0) END AS si,
       CASE WHEN g.n_classes > 1 THEN (s.distances + s.n_apart * sqrt(ln(2))) / nullif(s.n_all, 0) END AS bgd,
       CASE WHEN g.n_classes > 1 THEN (s.divergences / ln(2) + s.n_apart) / nullif(s.n_all, 0) END
           AS bgd_divergence_bits,
       CASE WHEN s.n > 0 AND g.n_classes > 1 THEN greatest(log2(s.n) + (s.cells - s.margin - c.margin) / s.n, 0) END
           AS mutual_information_bits,
       g.n_successes / nullif(g.n_with_outcome, 0) AS success_rate, g.class_sizes, g.is_balanced
FROM games g
LEFT JOIN summed s USING (game_no)
LEFT JOIN of_classes c USING (game_no);
