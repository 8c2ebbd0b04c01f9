-- effect_size_parts: Cohen's d of tokens, incompatible against compatible, with the parts that it is made of.
-- grain: source, study_version, variant, model, test, refusals_removed
-- reads: association_answer_rows, models, tests
-- study: rmiat
-- paper: Table S3
-- note:  d = (mean_incompatible - mean_compatible) / pooled_sd, SDs with n - 1. The 95 % interval is
--        d ± qt(.975, df) * std_error; SQL has no qt, R's effect_size() gives the limits. NULL where undefined.
CREATE OR REPLACE VIEW effect_size_parts AS
WITH counted AS (
    SELECT source, study_version, variant, model, test, condition,
           avg(tokens) FILTER (NOT is_refusal) AS mean_removed, avg(tokens) AS mean_kept,
           stddev_samp(tokens) FILTER (NOT is_refusal) AS sd_removed, stddev_samp(tokens) AS sd_kept,
           count(tokens) FILTER (NOT is_refusal) AS n_removed, count(tokens) AS n_kept
    FROM association_answer_rows
    GROUP BY source, study_version, variant, model, test, condition
), cells AS (
    SELECT source, study_version, variant, model, test, refusals_removed, condition,
           CASE WHEN refusals_removed THEN mean_removed ELSE mean_kept END AS mean,
           CASE WHEN refusals_removed THEN sd_removed ELSE sd_kept END AS sd,
           CASE WHEN refusals_removed THEN n_removed ELSE n_kept END AS n
    FROM counted CROSS JOIN (VALUES (true), (false)) AS r(refusals_removed)
), pairs AS (
    SELECT source, study_version, variant, model, test, refusals_removed,
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
SELECT c.source, c.study_version, c.variant, c.model, c.test, c.refusals_removed,
       c.d,
       sqrt((c.n_compatible + c.n_incompatible) / nullif(c.n_compatible * c.n_incompatible, 0)
            + c.d ** 2 / (2 * (c.n_compatible + c.n_incompatible))) AS std_error,
       c.df, c.mean_compatible, c.mean_incompatible, c.sd_compatible, c.sd_incompatible, c.pooled_sd,
       c.n_compatible, c.n_incompatible
FROM pooled c
LEFT JOIN models m ON m.study = 'rmiat' AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = 'rmiat' AND t.study_version = c.study_version AND t.test = c.test
ORDER BY c.source, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test, c.refusals_removed DESC;
