-- missing_texts: in words, which texts of the paper's topic model are not here; NULL: all of them are.
-- grain: source, study, study_version, variant
-- design: association
-- note:  the paper's models are those whose share of a topic is printed (`proportion_pct`); each needs readable
--        reasoning in each test.
CREATE OR REPLACE VIEW missing_texts AS
WITH planned_tests AS (
    SELECT DISTINCT study, test, test_no FROM planned_cells
), wanted AS (
    SELECT p.study, p.number_no, p.model, t.test, t.test_no
    FROM printed_numbers p
    JOIN planned_tests t USING (study)
    WHERE p.quantity = 'proportion_pct'
), readable AS (
    SELECT source, study, study_version, variant, model, test, sum(n_readable) AS n_readable
    FROM iat_mentions
    WHERE n_readable > 0
    GROUP BY source, study, study_version, variant, model, test
), cells AS (
    SELECT d.source, d.study_version, d.variant, w.*, r.n_readable IS NULL AS is_absent, a.shortfall, a.cell_no
    FROM (SELECT DISTINCT source, study, study_version, variant FROM readable) d
    JOIN wanted w USING (study)
    LEFT JOIN readable r USING (source, study, study_version, variant, model, test)
    LEFT JOIN asked_cells a USING (source, study, study_version, variant, model, test)
), of_models AS (
    SELECT source, study, study_version, variant, model, min(number_no) AS number_no, min(cell_no) AS cell_no,
           CASE WHEN bool_and(is_absent) THEN model
                ELSE model || ' in ' || string_agg(test, ', ' ORDER BY test_no) FILTER (is_absent)
           END AS absent,
           string_agg(shortfall, '; ' ORDER BY cell_no) FILTER (NOT is_absent) AS shortfall
    FROM cells
    GROUP BY source, study, study_version, variant, model
)
SELECT source, study, study_version, variant,
       nullif(concat_ws('; ', string_agg(absent, '; ' ORDER BY number_no), string_agg(shortfall, '; ' ORDER BY cell_no)), '')
           AS missing
FROM of_models
GROUP BY source, study, study_version, variant;
