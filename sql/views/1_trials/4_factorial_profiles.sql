-- factorial_profiles: one profile a row with what was answered about it, in a fixed order: what analyses start from.
-- grain: trial_id, question, position
-- order: source, study, study_version, variant, model_no, model, test_no, question, plan_position, trial_id, position
-- design: factorial
-- note:  the columns are explained in factorial_profile_rows. `test` is the question; `attributes` has each attribute of
--        the profile by its name, and fits name them as if each were a column: rating ~ gender * job + (1 | template).
--        A task that is shown again with its sides swapped is no row: factorial_choices has both its answers.
--        `measured` is the answer as a number, whatever the question: scored, number or chosen.
CREATE OR REPLACE VIEW factorial_profiles AS
SELECT p.source, p.study, p.study_version, p.variant, p.run_id, p.trial_id, p.task,
       p.model, coalesce(m.label, p.model) AS model_label, m.model_no, p.participant, p.respondent, p.persona,
       p.question AS test, coalesce(t.label, p.question) AS test_label, coalesce(t.test_no, p.question_place) AS test_no,
       p.question, p.kind, p.condition, p.template, p.wording, p.item, p.scale, p.repetition, p.position, p.plan_position,
       p.n_profiles, p.attribute_order, p.direction, p.low, p.high, p.outcome, p.is_refusal,
       p.outcome = 'answered' AS is_valid,
       p.rating, p.scored, p.chosen, p.number,
       CASE p.kind WHEN 'scale' THEN p.scored WHEN 'number' THEN p.number ELSE p.chosen END::DOUBLE AS measured,
       map(p.names, p.levels) AS attributes,
       p.tokens, p.token_source
FROM factorial_profile_rows p
LEFT JOIN models m ON m.study = p.study AND m.study_version = p.study_version AND m.model = p.model
LEFT JOIN tests t ON t.study = p.study AND t.study_version = p.study_version AND t.test = p.question
WHERE p.kind <> 'profile' OR NOT ends_with(p.item, ' again');
