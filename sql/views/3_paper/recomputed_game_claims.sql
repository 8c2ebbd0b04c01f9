-- recomputed_game_claims: what the text of a paper says of several games: means, extremes, reductions, ratios, shares, p.
-- grain: source, study, study_version, model, test, condition, quantity
-- design: allocation
-- gives: si, bgd, gasi, is_below_random, p_value, gasi_min, gasi_max, si_reduction, si_ratio, percent_best,
--        percent_second, percent_third, percent_fourth
-- note:  names for several models are in printed_scopes. `is_below_random` is by the level of chance for games of as many
--        rounds, `p_value` by a plain permutation test (the paper's is not stated) of the difference to the games as they
--        usually are.
CREATE OR REPLACE VIEW recomputed_game_claims AS
WITH cells AS MATERIALIZED (
    FROM game_claim_cells
), absent AS (
    SELECT source, study, study_version, number_no, cell_test, min(test_no) AS test_no,
           string_agg(cell_model || ' (' || cell_condition || ')', ', ' ORDER BY scope_no) AS models
    FROM cells
    WHERE NOT is_here
    GROUP BY source, study, study_version, number_no, cell_test
), alike AS ( -- variants that lack the same models are reported together
    SELECT source, study, study_version, number_no, min(test_no) AS test_no,
           string_agg(cell_test, ', ' ORDER BY test_no) || ': ' || models AS words
    FROM absent
    GROUP BY source, study, study_version, number_no, models
), absent_words AS (
    SELECT source, study, study_version, number_no, string_agg(words, '; ' ORDER BY test_no) AS words
    FROM alike
    GROUP BY source, study, study_version, number_no
), sums AS (
    SELECT source, study, study_version, number_no, usual_variant, model, test, condition, quantity, is_of_several,
           bool_and(is_here) AS are_all_here,
           avg(si ORDER BY game_variant, cell_model) AS si,
           avg(bgd ORDER BY game_variant, cell_model) AS bgd,
           avg(gasi ORDER BY game_variant, cell_model) AS gasi,
           min(gasi) AS gasi_min, max(gasi) AS gasi_max,
           avg(si) FILTER (cell_test = extended_test) - avg(si) FILTER (cell_test = test) AS si_reduction,
           max(si) FILTER (scope_no = 1) / max(si) FILTER (scope_no = 2) AS si_ratio,
           100 * sum(n) / sum(n_questions) AS percent,
           (any_value(si) < any_value(random_si))::INTEGER::DOUBLE AS is_below_random,
           string_agg(shortfall, '; ' ORDER BY test_no, scope_no) AS shortfalls
    FROM cells
    GROUP BY ALL
    HAVING bool_or(is_here)
), numbers AS (
    SELECT s.*, concat_ws('; ', a.words, s.shortfalls) AS lacks, k.index IS NOT NULL AS is_compared,
           CASE WHEN s.quantity = 'is_below_random' THEN s.is_below_random
                WHEN s.quantity = 'p_value' THEN k.p_unstudentised
                WHEN s.quantity = 'si' THEN s.si
                WHEN s.quantity = 'bgd' THEN s.bgd
                WHEN s.quantity = 'gasi' THEN s.gasi
                WHEN s.quantity = 'gasi_min' THEN s.gasi_min
                WHEN s.quantity = 'gasi_max' THEN s.gasi_max
                WHEN s.quantity = 'si_reduction' THEN s.si_reduction
                WHEN s.quantity = 'si_ratio' THEN s.si_ratio
                WHEN starts_with(s.quantity, 'percent_') THEN s.percent
           END AS recomputed
    FROM sums s
    LEFT JOIN absent_words a USING (source, study, study_version, number_no)
    LEFT JOIN game_comparisons k ON k.source = s.source AND k.study = s.study AND k.study_version = s.study_version
        AND k.between = 'variant' AND k.model = s.model AND k.condition = s.test AND k.answer_format = s.condition
        AND k.reference = s.usual_variant AND k.index = 'si' AND k.is_current AND s.quantity = 'p_value'
    WHERE s.is_of_several OR s.quantity = 'is_below_random' OR (s.quantity = 'p_value' AND s.are_all_here)
)
SELECT source, study, study_version, usual_variant AS variant, model, test, NULL::BOOLEAN AS refusals_removed,
       condition, quantity, recomputed,
       CASE WHEN quantity = 'is_below_random' AND recomputed IS NULL
            THEN 'Chance has not been simulated for games of this kind yet. To do so: analyze indices --study ' || study
            WHEN quantity = 'p_value' AND NOT is_compared
            THEN format('These games have not been compared as they are now. To do so: analyze differences --study {} '
                        || '--reference {} --condition {}', study, usual_variant, test)
            WHEN recomputed IS NULL THEN 'Missing: ' || nullif(lacks, '') || '.'
            ELSE nullif(lacks, '') END AS missing
FROM numbers;
