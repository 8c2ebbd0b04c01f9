-- forced_choice_trials: one answer of a forced choice a row, in a fixed order: what analyses start from.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, test_no, test, position, trial_id
-- design: forced_choice
-- note:  the tables count over forced_choice_answer_rows, the same rows unordered and unlabelled, where the columns are
--        explained. `item` names test and word, for a word of one test is another item in the other. `domain`, `block`
--        and `category` are `test`, `condition` and `group` again, so that the paper's formulas can be typed as
--        printed.
CREATE OR REPLACE VIEW forced_choice_trials AS
SELECT t.source, t.study, t.study_version, t.variant, t.run_id, t.trial_id,
       t.model, coalesce(m.label, t.model) AS model_label, m.model_no,
       t.test, coalesce(d.label, t.test) AS test_label, d.test_no,
       t.condition, coalesce(c.label, t.condition) AS condition_label, c.condition_no,
       t.* EXCLUDE (source, study, study_version, variant, run_id, trial_id, model, test, condition),
       t.test AS domain, coalesce(d.label, t.test) AS domain_label, d.test_no AS domain_no,
       t.condition AS block, coalesce(c.label, t.condition) AS block_label, c.condition_no AS block_no,
       t."group" AS category
FROM forced_choice_answer_rows t
LEFT JOIN models m ON m.study = t.study AND m.study_version = t.study_version AND m.model = t.model
LEFT JOIN tests d ON d.study = t.study AND d.study_version = t.study_version AND d.test = t.test
LEFT JOIN conditions c ON c.study = t.study AND c.study_version = t.study_version AND c.condition = t.condition;
