-- factorial_trials: one answer to one question a row, in a fixed order: what analyses of answers start from.
-- grain: trial_id, question, about
-- order: source, study, study_version, variant, model_no, model, test_no, question, position, trial_id, about
-- design: factorial
-- note:  the columns are explained in factorial_answer_rows. `test` is the question. `attributes` are those of the
--        profile; NULL if several were shown: factorial_profiles has a row for each.
CREATE OR REPLACE VIEW factorial_trials AS
SELECT a.source, a.study, a.study_version, a.variant, a.run_id, a.trial_id, a.task,
       a.model, coalesce(m.label, a.model) AS model_label, m.model_no, a.participant, a.respondent, a.persona,
       a.question AS test, coalesce(t.label, a.question) AS test_label, coalesce(t.test_no, a.question_place) AS test_no,
       a.question, a.kind, a.about, a.condition, a.template, a.wording, a.item, a.repetition, a.position, a.n_profiles,
       a.attribute_order, a.direction, a.low, a.high, a.answer, a.outcome, a.is_refusal,
       a.outcome = 'answered' AS is_valid, a.detail,
       a.rating, CASE WHEN a.kind IN ('choice', 'yes_no', 'profile') THEN a."value" END AS choice, a.number,
       CASE WHEN a.kind = 'text' THEN a."value" END AS text,
       CASE WHEN a.n_profiles = 1 THEN map(a.names, a.levels) END AS attributes,
       a.tokens, a.token_source, a.latency_s, a.response_time_ms, a.cost_usd, a.served_model, a.served_model_differs
FROM factorial_answer_rows a
LEFT JOIN models m ON m.study = a.study AND m.study_version = a.study_version AND m.model = a.model
LEFT JOIN tests t ON t.study = a.study AND t.study_version = a.study_version AND t.test = a.question;
