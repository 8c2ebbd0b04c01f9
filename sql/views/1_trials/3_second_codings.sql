-- second_codings: a row per answer and model that codes it, next to what was coded before.
-- grain: coding_trial_id
-- design: coding
-- note:  source, study, model and the like are those of the answer that is coded; `coder` is the model that codes it,
--        `coding_source`, `coding_study`, `coding_version` and `coding_trial_id` are where its coding lies. Codings of
--        answers that this database doesn't have are no rows here (coding_answer_rows has all).
CREATE OR REPLACE VIEW second_codings AS
SELECT t.source, t.study, t.study_version, t.variant, t.model, t.test, t.condition, t.wording, t.item, t.repetition,
       t.trial_id, c.coder, c.repetition AS coding_repetition, c.first_coding, c.second_coding,
       c.outcome, c.detail, c.answer, c.source AS coding_source, c.study AS coding_study,
       c.study_version AS coding_version, c.trial_id AS coding_trial_id
FROM coding_answer_rows c
JOIN trials t ON t.trial_id = c.coded_trial_id
ORDER BY t.source, t.study, t.study_version, t.variant, t.model, t.test, t.position, c.coder, c.repetition, c.trial_id;
