-- game_comparisons: how much the indices of two conditions of a game differ, with permutation tests, corrected.
-- grain: source, study, study_version, between, model, variant, answer_format, condition, reference, index
-- order: source, study, study_version, between, model_no, model, variant, answer_format, condition, reference,
--        list_position(['si', 'bgd', 'gasi', 'mutual_information_bits'], index), index
-- design: allocation
-- note:  Made by `analyze differences`, with R's compare_games(). `difference` is `condition` minus `reference`, two
--        values of what `between` names, within model, variant and answer_format (NULL: what is compared, or pooled).
--        `std_error` leaves out one game at a time, `mde` is what is found with a power of 80 %, `boot` holds 95 % of a
--        bootstrap of whole games. `p_value` deals games out again and compares differences in standard errors,
--        `p_unstudentised` the differences themselves, which is too small if the side of fewer games is the more
--        varied. `p_adjusted` is `p_value` corrected by the method `adjust` for the `n_comparisons` of this index that
--        were asked for together: rows that were asked for apart, and other indices, are corrected on their own, and
--        who picks among them picks uncorrected. Pooled kinds of games are dealt out each on their own; a side of fewer
--        than five games has no `boot`. `is_current` is false if games came since: the same command compares those
--        again.
CREATE OR REPLACE VIEW game_comparisons AS
WITH now AS (
    SELECT source, study, study_version, model, answer_format,
           rtrim(replace(variant || '.', '.' || answer_format || '.', '.'), '.') AS game_variant,
           count(*) FILTER (is_complete) AS n
    FROM allocation_games
    GROUP BY source, study, study_version, model, answer_format, game_variant
), adjusted AS (
    SELECT a.*
    FROM game_adjusted a
    JOIN calls c USING (call_id)
    QUALIFY row_number() OVER (PARTITION BY a.difference_id, a.index ORDER BY c.ended_at DESC, a.call_id) = 1
), differences AS (
    SELECT d.*, a.n_comparisons, a.p_adjusted, a.adjust, c.data_hash, c.versions, c.ended_at AS made_at
    FROM game_differences d
    JOIN calls c USING (call_id)
    JOIN adjusted a ON a.difference_id = d.call_id AND a.index = d.index -- the other indices were not asked for
), sides AS (
    SELECT *, condition AS side FROM differences
    UNION ALL
    SELECT *, reference AS side FROM differences
), counted AS (
    SELECT s.call_id, s.index, coalesce(sum(n.n) FILTER (s.side = s.condition), 0) AS n_now,
           coalesce(sum(n.n) FILTER (s.side = s.reference), 0) AS n_reference_now
    FROM sides s
    LEFT JOIN now n ON n.source = s.source AND n.study = s.study AND n.study_version = s.study_version
        AND n.model = CASE s.between WHEN 'model' THEN s.side ELSE coalesce(s.model, n.model) END
        AND n.game_variant = CASE s.between WHEN 'variant' THEN s.side ELSE coalesce(s.variant, n.game_variant) END
        AND n.answer_format
            = CASE s.between WHEN 'answer_format' THEN s.side ELSE coalesce(s.answer_format, n.answer_format) END
    GROUP BY s.call_id, s.index
)
SELECT d.source, d.study, d.study_version, d.between, d.model, coalesce(m.label, d.model) AS model_label, m.model_no,
       d.variant, d.answer_format, d.condition, d.reference, d.index, d.n_games, d.n_games_reference,
       d.difference, d.std_error, d.mde, d.boot_low, d.boot_high, d.p_value, d.p_unstudentised, d.n_comparisons,
       d.p_adjusted, d.adjust,
       c.n_now = d.n_games AND c.n_reference_now = d.n_games_reference AS is_current,
       d.n_draws, d.seed, d.data_hash, d.versions, d.made_at
FROM differences d
JOIN counted c USING (call_id, index)
LEFT JOIN models m ON m.study = d.study AND m.study_version = d.study_version AND m.model = d.model;
