-- recomputed_game_outcomes: whether a model refused every game of a variant, and the success that it says it expects.
-- grain: source, study, study_version, model, test, condition, quantity
-- design: allocation
-- gives: outcome, elicited_min_percent, elicited_max_percent
-- note:  `outcome` is 1 if every game ended with a refusal. What is expected is the least and the greatest of the means
--        of each job, in whatever variant it was asked.
CREATE OR REPLACE VIEW recomputed_game_outcomes AS
WITH numbers AS (
    SELECT e.source, e.study, e.study_version, g.usual_variant AS variant, e.model, g.test, NULL AS condition,
           'outcome' AS quantity, bool_and(e.n_refused = e.n_games)::INTEGER::DOUBLE AS recomputed
    FROM allocation_game_ends e
    JOIN game_cells g USING (source, study, study_version, variant, model)
    GROUP BY e.source, e.study, e.study_version, g.usual_variant, e.model, g.test
    UNION ALL
    SELECT r.source, r.study, r.study_version, min(c.usual_variant), r.model, p.test, p.condition, p.quantity,
           100 * CASE p.quantity WHEN 'elicited_min_percent' THEN min(r.mean_rate) ELSE max(r.mean_rate) END
    FROM elicited_rates r
    JOIN printed_numbers p ON p.study = r.study AND p.model = r.model
        AND p.quantity IN ('elicited_min_percent', 'elicited_max_percent')
    JOIN planned_cells c ON c.study = r.study AND c.model IS NULL AND c.test = c.usual_variant
    GROUP BY r.source, r.study, r.study_version, r.model, p.test, p.condition, p.quantity
)
SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed, condition, quantity,
       recomputed, NULL::VARCHAR AS missing
FROM numbers;
