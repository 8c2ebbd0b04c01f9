-- association_trials: one answer of an association study a row, in a fixed order: what analyses start from.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, test_no, test, position, trial_id
-- design: association
-- note:  the tables count over association_answer_rows, the same rows unordered: a sort that a sum doesn't need costs ten times
--        the sum.
CREATE OR REPLACE VIEW association_trials AS
SELECT *
FROM association_answers;
