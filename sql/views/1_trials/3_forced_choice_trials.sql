-- forced_choice_trials: one answer of a forced choice a row, in a fixed order: what analyses start from.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, domain_no, domain, position, trial_id
-- reads: forced_choice_answer_rows, models, tests, conditions
-- design: forced_choice
-- note:  the tables count over forced_choice_answer_rows, the same rows unordered and unlabelled, where the columns are
--        explained. `item` names domain and word, for a word of one domain is another item in the other.
CREATE OR REPLACE VIEW forced_choice_trials AS
SELECT t.source, t.study, t.study_version, t.variant, t.run_id, t.trial_id,
       t.model, coalesce(m.label, t.model) AS model_label, m.model_no,
       t.domain, coalesce(d.label, t.domain) AS domain_label, d.test_no AS domain_no,
       t.block, coalesce(b.label, t.block) AS block_label, b.condition_no AS block_no,
       t.* EXCLUDE (source, study, study_version, variant, run_id, trial_id, model, domain, block)
FROM forced_choice_answer_rows t
LEFT JOIN models m ON m.study = t.study AND m.study_version = t.study_version AND m.model = t.model
LEFT JOIN tests d ON d.study = t.study AND d.study_version = t.study_version AND d.test = t.domain
LEFT JOIN conditions b ON b.study = t.study AND b.study_version = t.study_version AND b.condition = t.block;
