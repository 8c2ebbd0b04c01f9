-- decision_absent_tests: the tests of a study's plan of which a model has no answers here.
-- grain: source, study, study_version, variant, model
-- design: decision
-- note:  a number of all tests together can't be compared with its print while some are absent. Rows only where some are.
CREATE OR REPLACE VIEW decision_absent_tests AS
WITH cells AS (
    SELECT DISTINCT source, study, study_version, variant, model, test FROM decision_answer_rows
), asked AS (
    SELECT DISTINCT source, study, study_version, variant, model FROM cells
)
SELECT m.source, m.study, m.study_version, m.variant, m.model,
       m.model || ' in ' || string_agg(p.test, ', ' ORDER BY p.test_no) AS absent
FROM asked m
JOIN planned_cells p USING (study, model)
ANTI JOIN cells USING (source, study, study_version, variant, model, test)
GROUP BY m.source, m.study, m.study_version, m.variant, m.model;
