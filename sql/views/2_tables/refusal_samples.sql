-- refusal_samples: refusals drawn at random by the seed of their run: the word, the group, the answer and its tokens.
-- grain: trial_id
-- order: source, study, study_version, variant, models.model_no, model, tests.test_no, test, draw
-- note:  at most 20 of each model and test, in the order in which they were drawn (`draw`): the first ten are a sample of
--        ten. `n_refused` is the number that they were drawn from.
CREATE OR REPLACE VIEW refusal_samples AS
SELECT t.source, t.study, t.study_version, t.variant, t.model, t.test, t.condition,
       row_number() OVER (of_test ORDER BY md5(concat_ws(' ', r.seed, t.trial_id)), t.trial_id) AS draw,
       count(*) OVER of_test AS n_refused,
       t.item AS word, t."group", t.answer, t.tokens, t.token_source, t.trial_id
FROM trial_rows t
LEFT JOIN runs r ON r.run_id = t.run_id
WHERE t.outcome = 'refused' AND NOT t.is_left_out
WINDOW of_test AS (PARTITION BY t.source, t.study, t.study_version, t.variant, t.model, t.test)
QUALIFY draw <= 20;
