-- factorial_refusals: by level of each attribute, how many answers were refused, malformed or otherwise without a value.
-- grain: sorted by source, study, study_version, variant, model, question, attribute, level
-- design: factorial
-- note:  to be read before anything else: answers that are missing more often at one level than at another select what
--        is compared. `n_not_reached` were never asked: an earlier answer ended their chain. A task with several profiles counts once for each level that it shows; `chi_squared` is of answered
--        or not by level, with `df` one less than the levels, NULL if all or none were answered.
CREATE OR REPLACE VIEW factorial_refusals AS
WITH answers AS (
    SELECT source, study, study_version, variant, model, question, outcome, template, persona, names,
           CASE about WHEN 0 THEN levels ELSE levels[(about - 1) * len(names) + 1 : about * len(names)] END AS levels
    FROM factorial_answer_rows
    UNION ALL
    SELECT source, study, study_version, variant, model, unnest(not_reached), 'not_reached', template, persona, names,
           levels
    FROM factorial_answer_rows
), placed AS (
    SELECT *, len(names) AS n_names, unnest(names) AS attribute, unnest(range(1, len(names) + 1)) AS place
    FROM answers
), tasks AS (
    -- the levels of one attribute stand n_names apart, profile by profile
    SELECT source, study, study_version, variant, model, question, outcome, attribute,
           unnest(CASE WHEN len(levels) = n_names THEN [levels[place]]
                       ELSE list_distinct(levels[place : -1 : n_names]) END) AS level
    FROM placed
    UNION ALL
    SELECT source, study, study_version, variant, model, question, outcome, 'template', template
    FROM answers
    UNION ALL
    SELECT source, study, study_version, variant, model, question, outcome, 'persona', persona
    FROM answers
    WHERE persona IS NOT NULL
), counted AS (
    SELECT source, study, study_version, variant, model, question, attribute, level,
           count(*) AS n, count(*) FILTER (outcome = 'answered') AS n_answered,
           count(*) FILTER (outcome = 'refused') AS n_refused, count(*) FILTER (outcome = 'malformed') AS n_malformed,
           count(*) FILTER (outcome = 'filtered') AS n_filtered, count(*) FILTER (outcome = 'truncated') AS n_truncated,
           count(*) FILTER (outcome = 'rejected') AS n_rejected,
           count(*) FILTER (outcome = 'not_reached') AS n_not_reached
    FROM tasks
    WHERE level <> ''  -- a nested factor is missing elsewhere
    GROUP BY ALL
), compared AS (
    SELECT *, n_answered / n AS share_answered,
           sum(n_answered) OVER every_level / sum(n) OVER every_level AS share_of_all,
           count(*) OVER every_level - 1 AS df
    FROM counted
    WINDOW every_level AS (PARTITION BY source, study, study_version, variant, model, question, attribute)
)
SELECT c.* EXCLUDE (share_of_all, df),
       round(sum(n * (share_answered - share_of_all) ** 2 / nullif(share_of_all * (1 - share_of_all), 0)) OVER (
           PARTITION BY c.source, c.study, c.study_version, c.variant, c.model, question, attribute), 9) AS chi_squared,
       df
FROM compared c;
