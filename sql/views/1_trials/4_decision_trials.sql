-- decision_trials: one conversation with its decision a row, in a fixed order: what analyses start from.
-- grain: source, study, study_version, variant, model, conversation
-- order: source, study, study_version, variant, model_no, model, test_no, test, position, conversation
-- design: decision
-- note:  the tables count over decision_answer_rows, the same rows unordered and unlabelled, where the columns are
--        explained. `item` is the draw of names, words and orders, alike in all wordings of a test.
CREATE OR REPLACE VIEW decision_trials AS
SELECT r.source, r.study, r.study_version, r.variant, r.run_id, r.trial_id, r.conversation,
       r.model, coalesce(m.label, r.model) AS model_label, m.model_no,
       r.test, coalesce(t.label, r.test) AS test_label, t.test_no,
       r.condition, coalesce(c.label, r.condition) AS condition_label, c.condition_no,
       r.* EXCLUDE (source, study, study_version, variant, run_id, trial_id, conversation, model, test, condition)
FROM decision_answer_rows r
LEFT JOIN models m ON m.study = r.study AND m.study_version = r.study_version AND m.model = r.model
LEFT JOIN tests t ON t.study = r.study AND t.study_version = r.study_version AND t.test = r.test
LEFT JOIN conditions c ON c.study = r.study AND c.study_version = r.study_version AND c.condition = r.condition;
