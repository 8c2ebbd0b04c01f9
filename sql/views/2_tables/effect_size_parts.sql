-- effect_size_parts: Cohen's d of tokens, each condition against the first one, with the parts that it is made of.
-- grain: source, study, study_version, variant, model, test, refusals_removed, condition
-- order: source, study, study_version, variant, models.model_no, model, tests.test_no, test, refusals_removed DESC,
--        conditions.condition_no, condition
-- design: association
-- paper: Table S3
-- note:  d = (mean - reference_mean) / pooled_sd, SDs with n - 1; `reference` is the study's first condition. The 95 %
--        interval is d ± qt(.975, df) * std_error; SQL has no qt, R's effect_size() gives the limits. NULL if
--        undefined.
CREATE OR REPLACE VIEW effect_size_parts AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           avg(tokens) FILTER (is_valid) AS mean_removed, avg(tokens) AS mean_kept,
           stddev_samp(tokens) FILTER (is_valid) AS sd_removed, stddev_samp(tokens) AS sd_kept,
           count(tokens) FILTER (is_valid) AS n_removed, count(tokens) AS n_kept
    FROM association_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition
), cells AS (
    SELECT source, study, study_version, variant, model, test, refusals_removed, condition,
           CASE WHEN refusals_removed THEN mean_removed ELSE mean_kept END AS mean,
           CASE WHEN refusals_removed THEN sd_removed ELSE sd_kept END AS sd,
           CASE WHEN refusals_removed THEN n_removed ELSE n_kept END AS n
    FROM counted CROSS JOIN (VALUES (true), (false)) AS r(refusals_removed)
), pairs AS (  -- also where one of the two has no answer yet
    SELECT w.*, o.condition, f.condition AS reference, c.mean, c.sd, coalesce(c.n, 0) AS n,
           r.mean AS reference_mean, r.sd AS reference_sd, coalesce(r.n, 0) AS reference_n
    FROM (SELECT DISTINCT source, study, study_version, variant, model, test, refusals_removed FROM cells) w
    JOIN conditions f ON f.study = w.study AND f.study_version = w.study_version AND f.condition_no = 1
    JOIN conditions o ON o.study = w.study AND o.study_version = w.study_version AND o.condition_no > 1
    LEFT JOIN cells c ON c.condition = o.condition AND c.source = w.source AND c.study = w.study
        AND c.study_version = w.study_version AND c.variant = w.variant AND c.model = w.model AND c.test = w.test
        AND c.refusals_removed = w.refusals_removed
    LEFT JOIN cells r ON r.condition = f.condition AND r.source = w.source AND r.study = w.study
        AND r.study_version = w.study_version AND r.variant = w.variant AND r.model = w.model AND r.test = w.test
        AND r.refusals_removed = w.refusals_removed
), pooled AS (
    SELECT *, nullif(greatest(reference_n + n - 2, 0), 0) AS df,
           sqrt(((reference_n - 1) * reference_sd ** 2 + (n - 1) * sd ** 2) / df) AS pooled_sd,
           (mean - reference_mean) / nullif(pooled_sd, 0) AS d
    FROM pairs
)
SELECT source, study, study_version, variant, model, test, refusals_removed, condition, reference, d,
       sqrt((reference_n + n) / nullif(reference_n * n, 0) + d ** 2 / (2 * (reference_n + n)))
           AS std_error,
       df, reference_mean, mean, reference_sd, sd, pooled_sd, reference_n, n
FROM pooled;
