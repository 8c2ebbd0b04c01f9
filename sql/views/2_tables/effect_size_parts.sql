-- effect_size_parts: Cohen's d of tokens, incompatible against compatible, with the parts that it is made of.
-- grain: source, study_version, variant, model, test, refusals_removed
-- reads: rmiat_answers
-- study: rmiat
-- paper: Table S3
-- note:  d = (mean_incompatible - mean_compatible) / pooled_sd, SDs with n - 1. The 95 % interval is
--        d ± qt(.975, df) * std_error; SQL has no qt, R's effect_size() gives the limits. NULL where undefined.
CREATE OR REPLACE VIEW effect_size_parts AS
WITH cells AS (
    SELECT source, study_version, variant, model, test, refusals_removed, condition,
           min(model_no) AS model_no, min(test_no) AS test_no,
           avg(tokens) FILTER (NOT (refusals_removed AND is_refusal)) AS mean,
           stddev_samp(tokens) FILTER (NOT (refusals_removed AND is_refusal)) AS sd,
           count(tokens) FILTER (NOT (refusals_removed AND is_refusal)) AS n
    FROM rmiat_answers CROSS JOIN (VALUES (true), (false)) AS r(refusals_removed)
    GROUP BY source, study_version, variant, model, test, refusals_removed, condition
), pairs AS (
    SELECT source, study_version, variant, model, test, refusals_removed,
           min(model_no) AS model_no, min(test_no) AS test_no,
           max(mean) FILTER (condition = 'compatible') AS mean_compatible,
           max(mean) FILTER (condition = 'incompatible') AS mean_incompatible,
           max(sd) FILTER (condition = 'compatible') AS sd_compatible,
           max(sd) FILTER (condition = 'incompatible') AS sd_incompatible,
           coalesce(max(n) FILTER (condition = 'compatible'), 0) AS n_compatible,
           coalesce(max(n) FILTER (condition = 'incompatible'), 0) AS n_incompatible
    FROM cells
    GROUP BY source, study_version, variant, model, test, refusals_removed
), pooled AS (
    SELECT *, nullif(greatest(n_compatible + n_incompatible - 2, 0), 0) AS df,
           sqrt(((n_compatible - 1) * sd_compatible ** 2 + (n_incompatible - 1) * sd_incompatible ** 2) / df)
               AS pooled_sd,
           (mean_incompatible - mean_compatible) / nullif(pooled_sd, 0) AS d
    FROM pairs
)
SELECT source, study_version, variant, model, test, refusals_removed,
       d,
       sqrt((n_compatible + n_incompatible) / nullif(n_compatible * n_incompatible, 0)
            + d ** 2 / (2 * (n_compatible + n_incompatible))) AS std_error,
       df, mean_compatible, mean_incompatible, sd_compatible, sd_incompatible, pooled_sd, n_compatible, n_incompatible
FROM pooled
ORDER BY source, study_version, variant, model_no, model, test_no, test, refusals_removed DESC;
