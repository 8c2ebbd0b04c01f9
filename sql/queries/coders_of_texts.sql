-- The coding of each text of the study $study by each coder, and whether it has each code, a row for each: what agreement
-- is computed from. People's codes stand next to those of models of each source; of a coder who was asked several times,
-- the first coding.
WITH codings_once AS (
    SELECT source, study_version, variant, item, coder, is_person, kind, code, any_value(coding) AS coding,
           any_value(given) AS given
    FROM codings
    WHERE study = $study AND given IS NOT NULL AND repetition = 1
    GROUP BY ALL
), sources AS (
    SELECT DISTINCT source, study_version, variant
    FROM codings_once
    WHERE NOT is_person AND ($source IS NULL OR source = $source)
    UNION
    SELECT DISTINCT source, study_version, variant FROM codings_once p
    WHERE is_person AND NOT EXISTS (FROM codings_once m WHERE NOT m.is_person) AND ($source IS NULL OR source = $source)
)
SELECT s.source, s.study_version, s.variant, c.item, c.coder, c.is_person, c.source = 'human' AS is_human, c.kind,
       c.coding, c.code, c.given
FROM sources s
JOIN codings_once c ON c.study_version = s.study_version AND c.variant = s.variant
     AND (c.source = s.source OR c.is_person AND c.source = 'human')
ORDER BY ALL
