-- factorial_scale_scores: the score of each respondent on each scale of a questionnaire.
-- grain: sorted by source, study, study_version, variant, model, respondent, question, scale, template, repetition
-- design: factorial
-- note:  the mean of the items as they are keyed (a reversed one counts low + high - rating), NULL with less than 80 % of
--        the items answered. `mean_as_given` leaves the keys out. A respondent is a model as one persona; where items
--        are asked together with other factors, the mean is over these as well.
CREATE OR REPLACE VIEW factorial_scale_scores AS
SELECT source, study, study_version, variant, model, respondent, persona, question, scale, template, repetition,
       count(DISTINCT item) AS n_items, count(*) AS n_asked, count(scored) AS n_answered,
       CASE WHEN n_answered >= 0.8 * n_asked THEN avg(scored) END AS score, avg(rating) AS mean_as_given,
       min(low) AS low, max(high) AS high
FROM factorial_profile_rows
WHERE scale IS NOT NULL AND kind = 'scale'
GROUP BY source, study, study_version, variant, model, respondent, persona, question, scale, template, repetition;
