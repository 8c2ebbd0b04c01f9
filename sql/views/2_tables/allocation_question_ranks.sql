-- allocation_question_ranks: how often each model names the best, second … group when it is asked after an unequal game.
-- grain: source, study, study_version, variant, model, rank
-- order: source, study, study_version, variant, model, rank
-- design: allocation
-- paper: Wu et al., Tables 4 and 5
-- note:  Wu et al., appendix J. `share` is of the `n_questions` in which a group was named; chance is 1 / (number of
--        groups). The paper does not say how it made its intervals, but .28 has ±.07 in one cell and ±.08 in another,
--        so that they are not those of a share of 120 answers. Here they are over games, as that of SI: `share` ±
--        t(.975, n - 1) * `share_sd` / sqrt(n), with the standard deviation (n - 1) of the share in each of the
--        `n_games`. The quantile of t is an expansion in 1/df (Hill 1970), right to a thousandth of itself. NULL for
--        one game.
CREATE OR REPLACE VIEW allocation_question_ranks AS
WITH named AS MATERIALIZED (
    SELECT source, study, study_version, variant, model, game, rank, len(string_split(ranks, '","')) AS n_ranks
    FROM allocation_questions
    WHERE rank IS NOT NULL
), games AS (
    SELECT source, study, study_version, variant, model, game, count(*) AS n_questions,
           unnest(range(1, max(n_ranks) + 1)) AS rank
    FROM named
    GROUP BY source, study, study_version, variant, model, game
), counts AS (
    SELECT source, study, study_version, variant, model, game, rank, count(*) AS n
    FROM named
    GROUP BY source, study, study_version, variant, model, game, rank
), shares AS (
    SELECT g.source, g.study, g.study_version, g.variant, g.model, g.rank,
           sum(coalesce(c.n, 0))::BIGINT AS n, sum(g.n_questions)::BIGINT AS n_questions,
           count(*) AS n_games, stddev_samp(coalesce(c.n, 0) / g.n_questions) AS share_sd
    FROM games g
    LEFT JOIN counts c USING (source, study, study_version, variant, model, game, rank)
    GROUP BY g.source, g.study, g.study_version, g.variant, g.model, g.rank
), limits AS (
    SELECT *, n / n_questions AS share, n_games - 1 AS df,
           share_sd / sqrt(n_games) * CASE df WHEN 0 THEN NULL WHEN 1 THEN 12.7062 WHEN 2 THEN 4.3027
               ELSE 1.959964 + 2.372271 / df + 2.822499 / df ** 2 + 2.555850 / df ** 3 + 1.589534 / df ** 4
           END AS half_width
    FROM shares
)
SELECT source, study, study_version, variant, model, rank, n, n_questions, share, n_games, share_sd,
       share - half_width AS conf_low, share + half_width AS conf_high
FROM limits;
