-- factorial_marginal_means: the mean answer at each level of each attribute, over all else that was shown.
-- grain: sorted by source, study, study_version, variant, model, question, attribute, level
-- design: factorial
-- note:  point estimates without weights, with `n`, the profiles that have an answer, of `n_shown`; intervals need the
--        clusters, and are for fits to make. `measure` says what is averaged: the rating (as its item is keyed), chosen
--        (of choices among profiles, and yes), or the number. `difference` is from the mean of all levels together.
CREATE OR REPLACE VIEW factorial_marginal_means AS
WITH answers AS (
    SELECT source, study, study_version, variant, model, question, attribute, level,
           CASE kind WHEN 'scale' THEN 'rating' WHEN 'number' THEN 'number' ELSE 'chosen' END AS measure,
           CASE kind WHEN 'scale' THEN scored WHEN 'number' THEN number ELSE chosen END AS y
    FROM factorial_levels
    WHERE kind IN ('scale', 'number', 'profile', 'yes_no')
), counted AS (
    SELECT source, study, study_version, variant, model, question, measure, attribute, level,
           count(*) AS n_shown, count(y) AS n, avg(y) AS mean, stddev_samp(y) AS sd, sum(y) AS total
    FROM answers
    GROUP BY ALL
)
SELECT c.* EXCLUDE (total),
       mean - sum(total) OVER every_level / nullif(sum(n) OVER every_level, 0) AS difference
FROM counted c
WINDOW every_level AS (PARTITION BY c.source, c.study, c.study_version, c.variant, c.model, question, attribute);
