-- recomputed_games: the indices of games of each model, variant and format of answers, and the ends of their intervals.
-- grain: source, study, study_version, model, test, condition, quantity
-- design: allocation
-- gives: si, bgd, gasi, mutual_information_bits, si_conf_low, si_conf_high, bgd_conf_low, bgd_conf_high, gasi_conf_low,
--        gasi_conf_high, mutual_information_bits_conf_low, mutual_information_bits_conf_high
-- lacks: game
-- note:  `test` is the variant, `condition` the format of answers; that in which a model usually answers has rows without,
--        too. Where no interval is kept of the games as they are now, `missing` says what makes one.
CREATE OR REPLACE VIEW recomputed_games AS
WITH cells AS (
    SELECT i.source, i.study, i.study_version, i.variant AS game_variant, g.usual_variant AS variant, i.model, g.test,
           unnest(CASE WHEN g.is_usual THEN [g.condition, NULL] ELSE [g.condition] END) AS condition,
           g.shortfall, i.si, i.bgd, i.gasi, i.mutual_information_bits
    FROM allocation_indices i
    JOIN game_cells g USING (source, study, study_version, variant, model)
), indices AS MATERIALIZED (
    UNPIVOT cells ON si, bgd, gasi, mutual_information_bits INTO NAME index VALUE value
), numbers AS (
    SELECT source, study, study_version, variant, model, test, condition, index AS quantity, value AS recomputed,
           shortfall, NULL::VARCHAR AS lacking
    FROM indices
    UNION ALL
    SELECT i.source, i.study, i.study_version, i.variant, i.model, i.test, i.condition, i.index || e.suffix,
           CASE e.suffix WHEN '_conf_low' THEN k.conf_low ELSE k.conf_high END, i.shortfall,
           'No interval has been computed for the games as they are now. To do so: analyze indices --study ' || i.study
    FROM indices i
    CROSS JOIN (VALUES ('_conf_low'), ('_conf_high')) e(suffix)
    LEFT JOIN game_index_intervals k ON k.source = i.source AND k.study = i.study
        AND k.study_version = i.study_version AND k.variant = i.game_variant AND k.model = i.model
        AND k.index = i.index AND k.is_current
)
SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed, condition, quantity,
       recomputed, CASE WHEN recomputed IS NULL THEN lacking ELSE shortfall END AS missing
FROM numbers;
