-- allocation_rounds: one round of a game a row, in a fixed order: what analyses of games start from.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, repetition, game, round, trial_id
-- design: allocation
-- note:  the tables count over allocation_round_rows, the same rows unordered. `factors` holds the rest as JSON: who would
--        have succeeded (drawn before the answer), the candidates' features, the order in which the groups were shown.
CREATE OR REPLACE VIEW allocation_rounds AS
SELECT t.source, t.study, t.study_version, t.variant, t.run_id, t.trial_id,
       t.model, coalesce(m.label, t.model) AS model_label, m.model_no,
       t.game, t.history, t.repetition, t.round,
       t.class, coalesce(c.label, t.class) AS class_label, c.condition_no AS class_no,
       t.* EXCLUDE (source, study, study_version, variant, run_id, trial_id, model, game, history, repetition, round, class,
                    turn, factors, factor_lists),
       t.factors
FROM allocation_round_rows t
LEFT JOIN models m ON m.study = t.study AND m.study_version = t.study_version AND m.model = t.model
LEFT JOIN conditions c ON c.study = t.study AND c.study_version = t.study_version AND c.condition = t.class;
