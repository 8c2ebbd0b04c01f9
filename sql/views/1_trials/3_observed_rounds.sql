-- observed_rounds: one round of a game that no design here plays a row, in a fixed order: what fits start from.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, test_no, test, participant, game, round, trial_id
-- design: observed
-- note:  `attributes` has the further columns by name, and fits name them as if each were a column:
--        score ~ opponent + (1 | participant). A round without a readable action is here, with its outcome.
CREATE OR REPLACE VIEW observed_rounds AS
SELECT r.source, r.study, r.study_version, r.variant, r.run_id, r.trial_id,
       r.model, coalesce(m.label, r.model) AS model_label, m.model_no, r.participant,
       r.test, coalesce(t.label, r.test) AS test_label, t.test_no, r.game, r.round, r.repetition,
       r.action, r.outcome, r.is_refusal, r.outcome = 'answered' AS is_valid,
       CASE WHEN r.names <> [''] THEN map(r.names, r.levels) END AS attributes, r.response_time_ms, r.latency_s
FROM observed_round_rows r
LEFT JOIN models m ON m.study = r.study AND m.study_version = r.study_version AND m.model = r.model
LEFT JOIN tests t ON t.study = r.study AND t.study_version = r.study_version AND t.test = r.test;
