-- retest_answers: a row per thing that a later answer says, next to what the first answer to the same trial said.
-- grain: trial_id, measure, part
-- order: source, study, study_version, variant, model, occasion, test, first_trial_id, trial_id, measure, part
-- note:  of `collect --again`. `first_answer` and `later_answer` are what agrees or not: the option chosen (a or b), or
--        the outcome where there was none; of a pairing the group that each word (`part`) was given to. `first_value` and
--        `later_value` are the dependent variable: tokens, is_consistent (0 or 1), d, decision_bias, is_yes, or the
--        question of a factorial study (a part for each of an answer; yes is 1), as `measure` says; NULL if an answer has none (of
--        associations by the rule of association_answer_rows), and of a pairing beyond the first part. Turns of a
--        decision that decide nothing are no rows, nor is what another model answered although a
--        snapshot was asked for by name.
CREATE OR REPLACE VIEW retest_answers AS
WITH designs AS (
    SELECT study, max(design) AS design
    FROM studies
    GROUP BY study
), later AS MATERIALIZED (
    SELECT t.source, t.study, t.study_version, t.variant, t.model, t.test, t.condition, t.wording, t.item, t.repetition,
           t.occasion, t.first_trial_id, t.trial_id, d.design
    FROM all_trials t
    JOIN designs d USING (study)
    WHERE t.occasion > 1 AND NOT t.is_left_out
), asked AS MATERIALIZED (
    -- options by their place: a model that chose it twice agrees with itself, and names differ from trial to trial
    SELECT t.*, l.design,
           CASE t.choice WHEN t.option_a THEN 'a' WHEN t.option_b THEN 'b' ELSE coalesce(t.choice, t.outcome) END AS said
    FROM all_trials t
    JOIN (SELECT trial_id, design FROM later UNION SELECT first_trial_id, design FROM later) l USING (trial_id)
    WHERE NOT t.is_left_out
), readings AS (
    SELECT trial_id, 'tokens' AS measure, 1 AS part, said AS answer,
           CASE WHEN outcome IN ('truncated', 'filtered', 'rejected') THEN NULL
                WHEN design = 'association' THEN CASE WHEN answer IN (option_a, option_b) THEN tokens END
                WHEN outcome = 'answered' THEN tokens END::DOUBLE AS value
    FROM asked
    WHERE design NOT IN ('forced_choice', 'pairing', 'decision', 'factorial')
    UNION ALL
    -- of each profile its own: rating_1, rating_2
    SELECT trial_id, regexp_replace(questions[part], CASE abouts[part] WHEN '0' THEN '$' ELSE '_[0-9]+$' END, ''), part,
           coalesce(nullif("values"[part], ''), nullif(outcomes[part], ''), outcome),
           CASE WHEN kinds[part] IN ('scale', 'number') THEN try_cast("values"[part] AS DOUBLE)
                WHEN kinds[part] = 'yes_no' THEN CASE "values"[part] WHEN 'yes' THEN 1 WHEN 'no' THEN 0 END END
    FROM (SELECT trial_id, outcome, questions, abouts, kinds, "values", outcomes, unnest(range(1, len(kinds) + 1)) AS part
          FROM (SELECT trial_id, outcome, map_extract(factor_lists, 'questions')[1] AS questions,
                       map_extract(factor_lists, 'abouts')[1] AS abouts,
                       map_extract(factor_lists, 'kinds')[1] AS kinds, map_extract(factor_lists, 'values')[1] AS "values",
                       map_extract(factor_lists, 'outcomes')[1] AS outcomes
                FROM asked
                WHERE design = 'factorial'))
    UNION ALL
    SELECT trial_id, 'is_consistent', 1, said,
           CASE WHEN outcome = 'answered' AND choice IN (option_a, option_b) THEN choice = expected END::INTEGER
    FROM asked
    WHERE design = 'forced_choice'
    UNION ALL
    SELECT trial_id, 'd', part, CASE WHEN outcome = 'answered' THEN substr(assigned, part, 1) ELSE outcome END,
           CASE WHEN part = 1 THEN d END
    FROM (SELECT *, unnest(range(1, greatest(n_words, 1) + 1)) AS part
          FROM all_pairing_answers
          SEMI JOIN asked USING (trial_id))
    UNION ALL
    SELECT trial_id, CASE last_task WHEN 'question' THEN 'is_yes' ELSE 'decision_bias' END, 1, said,
           CASE WHEN last_task = 'question' THEN CASE choice WHEN 'yes' THEN 1 WHEN 'no' THEN 0 END
                ELSE CASE attribute_b_to WHEN 'b' THEN 1 WHEN 'a' THEN 0 END END
    FROM (SELECT *, map_extract(factor_lists, 'tasks')[1][-1] AS last_task, map_extract(factor_lists, 'attribute_b_to')[1][1] AS attribute_b_to
          FROM asked)
    WHERE design = 'decision' AND last_task IN ('question', 'decision')
)
SELECT l.source, l.study, l.study_version, l.variant, l.model, l.test, l.condition, l.wording, l.item, l.repetition,
       l.occasion, l.first_trial_id, l.trial_id, r.measure, r.part::INTEGER AS part,
       f.answer AS first_answer, r.answer AS later_answer, f.value AS first_value, r.value AS later_value
FROM later l
JOIN readings r ON r.trial_id = l.trial_id
JOIN readings f ON f.trial_id = l.first_trial_id AND f.measure = r.measure AND f.part = r.part;
