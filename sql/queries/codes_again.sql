-- Whether models code texts of the study $study as before: a row for each text that was coded again, coder, occasion and
-- code (NULL: all codes together), and what it is compared with ("first": the codes of the first occasion, "people":
-- people's). What can't be read is equal to nothing.
WITH asked AS (
    SELECT *, coalesce(first_trial_id, trial_id) AS text_id FROM all_trials WHERE study = $study AND NOT is_left_out
), coded AS (
    SELECT source, study_version, variant, model AS coder, item, text_id, occasion,
           map_extract(factor_lists, 'kind')[1][1] = 'scale' AS is_scale,
           CASE WHEN outcome = 'answered' THEN coalesce(map_extract(factor_lists, 'codes')[1], []) END AS codes,
           unnest(CASE WHEN is_scale THEN ['scale'] ELSE map_extract(factor_lists, 'order')[1] END) AS code
    FROM asked
    WHERE text_id IN (SELECT first_trial_id FROM asked WHERE occasion > 1) AND ($source IS NULL OR source = $source)
), given AS (
    SELECT * EXCLUDE (codes), CASE WHEN is_scale THEN try_cast(codes[1] AS DOUBLE)
                                   ELSE list_contains(codes, code)::INTEGER::DOUBLE END AS given
    FROM coded
), people AS (
    SELECT study_version, variant, source = 'simulated' AS is_simulated, item, code,
           coalesce(avg(given) FILTER (coder = 'adjudicator'), avg(given)) AS given
    FROM codings WHERE study = $study AND is_person AND given IS NOT NULL
    GROUP BY ALL
), compared AS (
    SELECT l.*, 'first' AS compared_with, coalesce(l.given = f.given, false) AS is_equal
    FROM given l JOIN given f ON f.text_id = l.text_id AND f.code = l.code AND f.occasion = 1 AND l.occasion > 1
    UNION ALL
    SELECT l.*, 'people', coalesce(l.given = p.given, false)
    FROM given l JOIN people p USING (study_version, variant, item, code)
    WHERE NOT p.is_simulated OR l.source = 'simulated'
)
SELECT source, study_version, variant, coder, compared_with, CASE WHEN is_all THEN NULL ELSE code END AS code, item, occasion,
       bool_and(is_equal)::INTEGER AS is_equal
FROM compared, (VALUES (true), (false)) AS kinds(is_all)
WHERE is_all OR NOT is_scale
GROUP BY ALL
ORDER BY source, study_version, variant, coder, compared_with, code NULLS FIRST, occasion, item
