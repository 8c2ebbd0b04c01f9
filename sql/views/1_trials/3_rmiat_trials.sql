-- rmiat_trials: one answer of the Reasoning Model IAT a row, in a fixed order: what analyses start from.
-- grain: trial_id
-- reads: rmiat_answers
-- study: rmiat
-- note:  the tables count over rmiat_answer_rows, the same rows unordered: a sort that a sum doesn't need costs ten times
--        the sum.
CREATE OR REPLACE VIEW rmiat_trials AS
SELECT *
FROM rmiat_answers
ORDER BY source, study_version, variant, model_no, model, test_no, test, position, trial_id;
