-- allocation_checked: one round of a game a row, as checks read it: the class of the job is the condition.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, repetition, game, round, trial_id
-- design: allocation
-- inner: yes
-- note:  with what allocation_games knows of the game; all rounds are of one test.
CREATE OR REPLACE VIEW allocation_checked AS
SELECT r.*, 'rounds' AS test, 'rounds' AS test_label, 1 AS test_no,
       r.class AS condition, r.class_label AS condition_label, r.class_no AS condition_no,
       g.n_rounds, g.n_groups, g.is_complete, g.is_pooled, g.ended_as
FROM allocation_rounds r
LEFT JOIN allocation_games g USING (source, study, study_version, variant, model, game);
