-- retest_occasions: when each model was asked the same trials again, and which model answered then and now.
-- grain: sorted by source, study, study_version, variant, model, occasion
-- note:  of `collect --again`; the first answers to the trials that were asked again are next to each occasion. `n_wanted`
--        is what --again asked for, `n_trials` what has an answer: whole conversations, as many in each test and condition.
--        `days_between`: from the first answer to the later one, as a median. NULL served models: not reported. What is asked again is
--        asked live; `n_first_by_batch` first answers came in a batch job.
CREATE OR REPLACE VIEW retest_occasions AS
WITH counted AS (
    SELECT l.source, l.study, l.study_version, l.variant, l.model, l.occasion,
           count(*) AS n_trials,
           count(*) FILTER (l.outcome = 'answered') AS n_answered,
           string_agg(DISTINCT f.served_model, ', ' ORDER BY f.served_model) AS first_served_models,
           string_agg(DISTINCT l.served_model, ', ' ORDER BY l.served_model) AS served_models,
           count(*) FILTER (f.served_model <> l.served_model) AS n_served_otherwise,
           count(*) FILTER (f.is_batch) AS n_first_by_batch,
           min(f.done_at) AS first_asked_from, max(f.done_at) AS first_asked_to,
           min(l.done_at) AS asked_from, max(l.done_at) AS asked_to,
           median(epoch(l.done_at - f.done_at) / 86400) AS days_between,
           sum(l.cost_usd) AS cost_usd
    FROM all_trials l
    JOIN all_trials f ON f.trial_id = l.first_trial_id
    WHERE l.occasion > 1
    GROUP BY l.source, l.study, l.study_version, l.variant, l.model, l.occasion
), wanted AS (
    SELECT a.source, a.study, a.variant, a.model, a.occasion, max(m.n_again) AS n_wanted
    FROM (SELECT DISTINCT source, study, variant, model, occasion, run_id FROM attempts WHERE occasion IS NOT NULL) a
    JOIN run_models m ON m.run_id = a.run_id AND m.model = a.model AND m.occasion = a.occasion
    GROUP BY a.source, a.study, a.variant, a.model, a.occasion
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.occasion, w.n_wanted,
       c.* EXCLUDE (source, study, study_version, variant, model, occasion)
FROM counted c
LEFT JOIN wanted w ON w.source = c.source AND w.study = c.study AND w.variant = c.variant AND w.model = c.model
    AND w.occasion = c.occasion;
