-- game_claim_cells: the games that each number in the text of a paper is of, and what is counted of those that are here.
-- grain: source, study, study_version, number_no, cell_test, scope_no
-- design: allocation
-- note:  a reduction is of the variant that the number names and of the one whose name it extends ("resettlement" of
--        "resettlement_hair"); extremes are also of the variants whose reduction is printed for the same models. Of shares
--        (`percent_best`) `n` answers name that group. `is_here`: there are such games or answers.
CREATE OR REPLACE VIEW game_claim_cells AS
WITH games AS MATERIALIZED (
    FROM game_cells
), claims AS (
    SELECT p.study, p.number_no, p.model, p.test, p.condition, p.quantity, min(o.usual_variant) AS usual_variant,
           coalesce(arg_min(o.test, len(o.test)) FILTER (starts_with(p.test, o.test || '_')), min(o.usual_variant))
               AS extended_test,
           list_position(['best', 'second', 'third', 'fourth'], replace(p.quantity, 'percent_', '')) AS rank
    FROM printed_numbers p
    JOIN planned_cells o ON o.study = p.study AND o.model IS NULL
    WHERE p.place = 'text' AND NOT p.is_of_print
    GROUP BY p.study, p.number_no, p.model, p.test, p.condition, p.quantity
), reductions AS (
    SELECT study, model, list(test ORDER BY number_no) AS tests
    FROM printed_numbers
    WHERE quantity = 'si_reduction'
    GROUP BY study, model
), with_tests AS (
    SELECT c.*, CASE
           WHEN c.quantity = 'si_reduction' THEN [c.extended_test, c.test]
           WHEN c.quantity = 'p_value' THEN [c.test, c.usual_variant]
           WHEN c.quantity IN ('gasi_min', 'gasi_max') THEN list_concat([c.test], r.tests)
           ELSE [c.test] END AS tests
    FROM claims c
    LEFT JOIN reductions r ON r.study = c.study AND r.model = c.model
), wanted AS (
    SELECT t.* EXCLUDE tests, coalesce(s.scope_no, 1) AS scope_no, s.scope IS NOT NULL AS is_of_several,
           coalesce(s.model, t.model) AS cell_model, coalesce(s.condition, t.condition) AS cell_condition,
           unnest(t.tests) AS cell_test, unnest(range(1, len(t.tests) + 1)) AS test_no
    FROM with_tests t
    LEFT JOIN printed_scopes s ON s.study = t.study AND s.scope = t.model
), here AS (
    SELECT g.*, 0 AS rank, i.si, i.bgd, i.gasi, i.random_si, NULL AS n, NULL AS n_questions
    FROM games g
    JOIN allocation_indices i USING (source, study, study_version, variant, model)
    UNION ALL BY NAME
    SELECT g.*, r.rank, r.n, r.n_questions
    FROM games g
    JOIN allocation_question_ranks r USING (source, study, study_version, variant, model)
)
SELECT d.source, w.study, d.study_version, w.* EXCLUDE (study, rank), h.variant AS game_variant,
       h.variant IS NOT NULL AS is_here, h.shortfall,
       h.si, h.bgd, h.gasi, h.random_si, h.n, h.n_questions
FROM (SELECT DISTINCT source, study, study_version FROM games) d
JOIN wanted w USING (study)
LEFT JOIN here h ON h.source = d.source AND h.study = d.study AND h.study_version = d.study_version
    AND h.model = w.cell_model AND h.test = w.cell_test AND h.condition = w.cell_condition
    AND h.rank = coalesce(w.rank, 0);
