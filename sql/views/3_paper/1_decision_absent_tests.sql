-- decision_absent_tests: the tests of a study's plan of which a model has no answers here.
-- grain: source, study, study_version, variant, model
-- reads: decision_answer_rows, planned_cells
-- design: decision
-- note:  a number of all tests together can't be set beside its print while some are absent. Rows only where some are.
CREATE OR REPLACE VIEW decision_absent_tests AS
WITH cells AS (
    SELECT DISTINCT source, study, study_version, variant, model, test FROM decision_answer_rows
), asked AS (
    SELECT DISTINCT source, study, study_version, variant, model FROM cells
)
SELECT m.source, m.study, m.study_version, m.variant, m.model,
       m.model || ' in ' || string_agg(p.test, ', ' ORDER BY p.test_no) AS absent
FROM asked m
JOIN planned_cells p ON p.study = m.study AND p.model = m.model
LEFT JOIN cells c ON c.source = m.source AND c.study = m.study AND c.study_version = m.study_version
    AND c.variant = m.variant AND c.model = m.model AND c.test = p.test
WHERE c.test IS NULL
GROUP BY m.source, m.study, m.study_version, m.variant, m.model;
