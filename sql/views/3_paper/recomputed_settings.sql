-- recomputed_settings: what a paper says of its Bayesian models as such, by the record of the kept fits.
-- grain: source, study, study_version, variant, quantity
-- design: forced_choice
-- gives: chains, iterations, warmup, n_draws, prior_b, prior_Intercept, prior_sd, formula, reference
-- fits:  brms of is_valid; brms of is_consistent
-- note:  a paper makes all of its fits alike: a number that they do not share has no row. A printed text (a prior, a
--        formula, the reference levels) is no number: 1 if it is that of each fit, else 0.
CREATE OR REPLACE VIEW recomputed_settings AS
WITH fitted AS (
    SELECT f.source, f.study, f.study_version, f.variant, f.call_id, m.chains, m.iterations, m.warmup, m.n_draws,
           string_split(regexp_replace(m.priors, '\s', '', 'g'), ';') AS priors,
           regexp_replace(regexp_replace(m.formula, '\s', '', 'g'), '^[^~]+~', 'y~') AS formula, m.reference
    FROM compared_fits f
    JOIN brms_models m ON m.call_id = f.call_id
    WHERE f.engine = 'brms' AND f.model IS NULL AND f.test IS NULL
), levels AS (
    SELECT study, study_version, call_id, trim(split_part(unnest(string_split(reference, ';')), '=', 2)) AS level
    FROM fitted
), labels AS (
    SELECT study, study_version, model AS level, label FROM models
    UNION ALL
    SELECT study, study_version, test, label FROM tests
), reference_levels AS (
    SELECT v.call_id, list_sort(list(DISTINCT coalesce(n.label, upper(v.level[1]) || v.level[2:]))) AS labels
    FROM levels v
    LEFT JOIN labels n ON n.study = v.study AND n.study_version = v.study_version AND n.level = v.level
    GROUP BY v.call_id
), texts AS (
    SELECT f.source, f.study, f.study_version, f.variant, p.quantity, bool_and(CASE p.quantity
               WHEN 'formula' THEN f.formula = regexp_replace(p.printed, '\s', '', 'g')
               WHEN 'reference' THEN r.labels
                   = list_sort(list_distinct(regexp_split_to_array(trim(p.printed), '\s*,\s*')))
               ELSE list_contains(f.priors, replace(p.quantity, 'prior_', '') || '~'
                                            || regexp_replace(p.printed, '\s', '', 'g'))
           END)::INTEGER::DOUBLE AS recomputed
    FROM fitted f
    JOIN printed_numbers p ON p.study = f.study
        AND p.quantity IN ('formula', 'reference', 'prior_b', 'prior_Intercept', 'prior_sd')
    LEFT JOIN reference_levels r ON r.call_id = f.call_id
    GROUP BY f.source, f.study, f.study_version, f.variant, p.quantity
), same AS (
    SELECT source, study, study_version, variant, quantity, min(value)::DOUBLE AS recomputed
    FROM (UNPIVOT fitted ON chains, iterations, warmup, n_draws INTO NAME quantity VALUE value)
    GROUP BY ALL
    HAVING count(DISTINCT value) = 1
), numbers AS (
    FROM texts
    UNION ALL BY NAME
    FROM same
)
SELECT source, study, study_version, variant, NULL::VARCHAR AS model, NULL::VARCHAR AS test,
       NULL::BOOLEAN AS refusals_removed, NULL::VARCHAR AS condition, quantity, recomputed, NULL::VARCHAR AS missing
FROM numbers;
