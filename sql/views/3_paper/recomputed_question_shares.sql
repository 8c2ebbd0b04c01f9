-- recomputed_question_shares: how often a model names the best, second … group after a game, and half the interval.
-- grain: source, study, study_version, model, test, condition, quantity
-- design: allocation
-- gives: share_best, share_second, share_third, share_fourth, share_best_half_width, share_second_half_width,
--        share_third_half_width, share_fourth_half_width
-- lacks: game
-- note:  the intervals are over games (the paper does not say how it made its own); of one game there is none.
CREATE OR REPLACE VIEW recomputed_question_shares AS
WITH ranked AS (
    SELECT r.source, r.study, r.study_version, g.usual_variant AS variant, r.model, g.test, g.condition, g.shortfall,
           'share_' || ['best', 'second', 'third', 'fourth'][r.rank] AS quantity, r.share,
           (r.conf_high - r.conf_low) / 2 AS half_width
    FROM allocation_question_ranks r
    JOIN game_cells g USING (source, study, study_version, variant, model)
    WHERE r.rank <= 4
), numbers AS (
    SELECT * EXCLUDE (share, half_width), share AS recomputed FROM ranked
    UNION ALL BY NAME
    SELECT * EXCLUDE (share, half_width, quantity), quantity || '_half_width' AS quantity, half_width AS recomputed
    FROM ranked
)
SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed, condition, quantity,
       recomputed, shortfall AS missing
FROM numbers
WHERE recomputed IS NOT NULL;
