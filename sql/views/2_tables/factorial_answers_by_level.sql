-- factorial_answers_by_level: how often each answer was given at each level of each attribute.
-- grain: source, study, study_version, variant, model, question, attribute, level, answer
-- order: source, study, study_version, variant, models.model_no, model, question, attribute, level, try_cast(answer
--        AS DOUBLE), answer
-- design: factorial
-- note:  of points of scales, options and yes or no; of a choice among profiles the answers are 1 (chosen) and 0. `n` are
--        profiles, `share` is of those of the level that have an answer.
CREATE OR REPLACE VIEW factorial_answers_by_level AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, question, kind, attribute, level,
           CASE WHEN kind = 'profile' THEN chosen::VARCHAR ELSE "value" END AS answer, count(*) AS n
    FROM factorial_levels
    WHERE outcome = 'answered' AND kind IN ('scale', 'choice', 'yes_no', 'profile')
    GROUP BY ALL
)
SELECT c.*, n / sum(n) OVER (
           PARTITION BY c.source, c.study, c.study_version, c.variant, c.model, question, attribute, level) AS share
FROM counted c;
