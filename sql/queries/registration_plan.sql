-- How answers differ from the plan that was registered: version, source, variant, seed, models, settings, numbers of
-- trials. Reads registered_plans, registered_models, eligible_models (patterns), planned_looks and setting_forms (the
-- canonical text of each run's settings), which the caller brings from the registration.
WITH answers AS (
    SELECT t.source, t.study_version, t.variant, t.model, t.provider, t.requested_model, r.seed,
           f.canonical AS settings, count(DISTINCT t.trial_id) AS n
    FROM trials t
    LEFT JOIN runs r ON r.run_id = t.run_id
    LEFT JOIN run_models m ON m.run_id = t.run_id AND m.model = t.model
    LEFT JOIN setting_forms f ON f.settings = m.settings
    WHERE t.study = $study
    GROUP BY ALL
), grains AS (
    SELECT source, study_version, variant, sum(n) AS n FROM answers GROUP BY ALL
), planned AS (
    SELECT a.*, p.seed AS planned_seed, p.trials_per_model
    FROM answers a
    JOIN registered_plans p ON p.variant = a.variant AND p.source = a.source
), named AS (
    SELECT a.*, m.model AS planned_model, m.settings AS planned_settings,
           EXISTS (FROM eligible_models e
                   WHERE a.provider || '/' || a.requested_model GLOB e.pattern) AS is_eligible
    FROM planned a
    LEFT JOIN registered_models m
        ON m.variant = a.variant AND m.provider = a.provider AND m.requested_model = a.requested_model
), asked AS (
    SELECT g.source, g.study_version, m.variant, m.model, m.trials, coalesce(sum(a.n), 0) AS n
    FROM (SELECT DISTINCT source, study_version, variant FROM planned) g
    JOIN registered_models m ON m.variant = g.variant
    LEFT JOIN named a ON a.source = g.source AND a.study_version = g.study_version AND a.variant = g.variant
                     AND a.provider = m.provider AND a.requested_model = m.requested_model
    GROUP BY ALL
    UNION ALL
    SELECT source, study_version, variant, model, trials_per_model, sum(n)
    FROM named
    WHERE planned_model IS NULL AND is_eligible
    GROUP BY ALL
)
SELECT g.source, g.study_version, g.variant, NULL AS model, NULL AS test, 'source' AS deviation, NULL AS subject,
       (SELECT min(source) FROM registered_plans) AS registered, g.source AS found, g.n
FROM grains g
WHERE g.source NOT IN (SELECT source FROM registered_plans)
UNION ALL
SELECT g.source, g.study_version, g.variant, NULL, NULL, 'study_version', NULL, p.study_version, g.study_version, g.n
FROM grains g
JOIN (SELECT DISTINCT study_version, source FROM registered_plans) p
    ON p.source = g.source AND p.study_version <> g.study_version
UNION ALL
SELECT g.source, g.study_version, g.variant, NULL, NULL, 'variant', NULL,
       (SELECT string_agg(variant, ', ' ORDER BY variant) FROM registered_plans), g.variant, g.n
FROM grains g
WHERE g.source IN (SELECT source FROM registered_plans) AND g.variant NOT IN (SELECT variant FROM registered_plans)
UNION ALL
SELECT source, study_version, variant, model, NULL, 'seed', NULL, planned_seed::TEXT, seed::TEXT, sum(n)
FROM planned
WHERE seed IS DISTINCT FROM planned_seed
GROUP BY ALL
UNION ALL
SELECT source, study_version, variant, model, NULL, 'model', NULL, NULL, provider || '/' || requested_model, sum(n)
FROM named
WHERE planned_model IS NULL AND NOT is_eligible
GROUP BY ALL
UNION ALL
SELECT source, study_version, variant, model, NULL, 'settings', NULL, planned_settings, settings, sum(n)
FROM named
WHERE planned_model IS NOT NULL AND settings IS DISTINCT FROM planned_settings
GROUP BY ALL
UNION ALL
SELECT source, study_version, variant, model, NULL, CASE WHEN n < trials THEN 'fewer_trials' ELSE 'more_trials' END,
       NULL, trials::TEXT, n::TEXT, abs(n - trials)
FROM asked
WHERE n <> trials AND n NOT IN (SELECT n_trials FROM planned_looks)
ORDER BY ALL
