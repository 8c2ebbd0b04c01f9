-- filter_categories: what providers say that they refused or filtered, in each condition.
-- grain: sorted by source, study, study_version, variant, model, test, condition, outcome, filter_category
-- note:  `filter_category` is the provider's own word (stop_details.category, blockReason, the reasons of a moderation
--        …); NULL if it gives none, as when a model refuses in its own words. `percent` is of the trials of that
--        cell, whatever came of them.
CREATE OR REPLACE VIEW filter_categories AS
WITH cells AS (
    SELECT source, study, study_version, variant, model, test, condition, count(*) AS n_cell
    FROM shown_attempts
    WHERE is_final AND occasion IS NULL
    GROUP BY source, study, study_version, variant, model, test, condition
), counted AS (
    SELECT source, study, study_version, variant, model, test, condition, outcome, filter_category, count(*) AS n_trials
    FROM shown_attempts
    WHERE is_final AND occasion IS NULL AND outcome IN ('refused', 'filtered')
    GROUP BY source, study, study_version, variant, model, test, condition, outcome, filter_category
)
SELECT c.*, 100.0 * c.n_trials / n.n_cell AS percent
FROM counted c
JOIN cells n ON n.source = c.source AND n.study = c.study AND n.study_version IS NOT DISTINCT FROM c.study_version
    AND n.variant = c.variant AND n.model = c.model AND n.test = c.test AND n.condition = c.condition;
