-- association_answers: one answer of an association study a row, unordered, with labels and places of all that has them.
-- grain: trial_id
-- design: association
-- note:  `is_valid` and `is_refusal`: see association_answer_rows, over which the tables count.
CREATE OR REPLACE VIEW association_answers AS
SELECT t.source, t.study, t.study_version, t.variant, t.run_id, t.trial_id,
       t.model, coalesce(m.label, t.model) AS model_label, m.model_no,
       t.test, p.test_no, coalesce(p.label, t.test) AS test_label,
       t.condition, coalesce(c.label, t.condition) AS condition_label, c.condition_no,
       t.* EXCLUDE (source, study, study_version, variant, run_id, trial_id, model, test, condition)
FROM association_answer_rows t
LEFT JOIN models m ON m.study = t.study AND m.study_version = t.study_version AND m.model = t.model
LEFT JOIN tests p ON p.study = t.study AND p.study_version = t.study_version AND p.test = t.test
LEFT JOIN conditions c ON c.study = t.study AND c.study_version = t.study_version AND c.condition = t.condition;
