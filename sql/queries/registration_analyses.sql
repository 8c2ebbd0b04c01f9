-- How kept analyses differ from those that were registered: formulas, flags by which rows were left out, looks. A fit of
-- another name is an exploration, and no deviation. Reads registered_fits, registered_flags, registered_plans and
-- planned_looks from the registration.
WITH made AS (
    SELECT f.*
    FROM fits f
    JOIN registered_plans p ON p.variant = f.variant AND p.source = f.source
    WHERE f.study = $study
), dropped AS (
    SELECT source, study_version, variant, model, test, fit, split_part(part, ': ', 1) AS flag,
           TRY_CAST(split_part(part, ': ', 2) AS BIGINT) AS n
    FROM (SELECT *, unnest(string_split(dropped, ', ')) AS part FROM made WHERE dropped IS NOT NULL)
), looked AS (
    SELECT l.source, l.variant, l.analysis, l.model, l.test, count(DISTINCT l.n_trials) AS n,
           string_agg(DISTINCT l.n_trials::TEXT, ', ') AS at
    FROM looks l
    JOIN registered_plans p ON p.variant = l.variant AND p.source = l.source
    WHERE l.study = $study AND (l.analysis = 'game_indices' OR l.analysis IN (SELECT fit FROM registered_fits))
    GROUP BY l.source, l.variant, l.analysis, l.model, l.test
), grains AS (
    SELECT DISTINCT source, study_version, variant FROM trials WHERE study = $study
)
SELECT m.source, m.study_version, m.variant, NULL AS model, NULL AS test, 'formula' AS deviation, m.fit AS subject,
       r.engine || ': ' || r.formula AS registered, m.engine || ': ' || m.formula AS found, count(*) AS n
FROM made m
JOIN registered_fits r USING (fit)
WHERE (m.engine, m.formula) IS DISTINCT FROM (r.engine, r.formula)
GROUP BY ALL
UNION ALL
SELECT d.source, d.study_version, d.variant, NULL, NULL, 'exclusion', d.fit,
       (SELECT string_agg(flag, ', ' ORDER BY flag) FROM registered_flags r WHERE r.fit = d.fit), d.flag, sum(d.n)
FROM dropped d
WHERE d.fit IN (SELECT fit FROM registered_fits)
  AND NOT EXISTS (FROM registered_flags r WHERE r.fit = d.fit AND r.flag = d.flag)
GROUP BY ALL
UNION ALL
SELECT g.source, g.study_version, g.variant, l.model, NULL, 'looks', l.analysis,
       (SELECT count(*) FROM planned_looks)::TEXT, max(l.n)::TEXT, max(l.n) - (SELECT count(*) FROM planned_looks)
FROM grains g
JOIN looked l ON l.source = g.source AND l.variant = g.variant
WHERE l.n > (SELECT count(*) FROM planned_looks)
GROUP BY ALL
ORDER BY ALL
