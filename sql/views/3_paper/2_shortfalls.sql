-- shortfalls: in words, what a number of a cell, of a model in all tests, or of all answers lacks of what was planned.
-- grain: source, study, study_version, variant, model, test
-- note:  `shortfall` is of what is here in part, `absent` of what is not here at all. Without a test: of the model in all
--        tests. Without a model: of all answers, and `absent` of all models that are asked by default.
CREATE OR REPLACE VIEW shortfalls AS
WITH cells AS MATERIALIZED (
    SELECT * FROM asked_cells
), databases AS (
    SELECT DISTINCT source, study, study_version, variant FROM cells
), absent AS (
    SELECT d.source, d.study, d.study_version, d.variant, p.model, min(p.model_no) AS model_no,
           bool_or(p.is_asked_by_default) AS is_asked_by_default,
           CASE WHEN bool_and(c.n_trials IS NULL) THEN p.model
                ELSE p.model || ' in ' || string_agg(p.test, ', ' ORDER BY p.test_no) FILTER (c.n_trials IS NULL)
           END AS absent
    FROM databases d
    JOIN planned_cells p USING (study)
    LEFT JOIN cells c USING (source, study, study_version, variant, model, test)
    GROUP BY d.source, d.study, d.study_version, d.variant, p.model
), partial AS (
    SELECT source, study, study_version, variant, model, min(cell_no) AS cell_no,
           string_agg(shortfall, '; ' ORDER BY cell_no) AS shortfall
    FROM cells
    GROUP BY source, study, study_version, variant, model
), of_models AS (
    SELECT * FROM absent FULL JOIN partial USING (source, study, study_version, variant, model)
)
SELECT source, study, study_version, variant, model, test, shortfall, NULL::VARCHAR AS absent
FROM cells
WHERE shortfall IS NOT NULL
UNION ALL
SELECT source, study, study_version, variant, model, NULL, shortfall, absent
FROM of_models
WHERE shortfall IS NOT NULL OR absent IS NOT NULL
UNION ALL
SELECT source, study, study_version, variant, NULL, NULL, string_agg(shortfall, '; ' ORDER BY cell_no),
       string_agg(absent, '; ' ORDER BY model_no) FILTER (is_asked_by_default)
FROM of_models
GROUP BY source, study, study_version, variant;
