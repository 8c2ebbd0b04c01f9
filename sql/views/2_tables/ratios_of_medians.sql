-- ratios_of_medians: the condition effect on counts as a ratio of medians, with the share of zeros and other families.
-- grain: call_id
-- order: source, study, study_version, variant, fit, models.model_no, model, tests.test_no, test, refusals_removed
--        DESC, measure, call_id
-- note:  Made by `analyze --fit censored`, with R's fit_censored(): a lognormal of which only the step of the counts is
--        known (a count of 0 is anything below it), with errors clustered by wording and by word. Zeros are shares of answers. The
--        differences in AIC are those of a family to this lognormal: above 0 the family is worse. two_part takes zeros
--        apart; so does hurdle, whose lognormal of the rest is not truncated at the step. Of equal ones the first is
--        `least_aic`: without zeros these two are the lognormal.
CREATE OR REPLACE VIEW ratios_of_medians AS
WITH families AS (
    SELECT call_id, max(aic_difference) FILTER (family = 'gaussian') AS aic_gaussian,
           max(aic_difference) FILTER (family = 'negative_binomial') AS aic_negative_binomial,
           max(aic_difference) FILTER (family = 'two_part') AS aic_two_part,
           max(aic_difference) FILTER (family = 'hurdle') AS aic_hurdle,
           arg_min(family, (round(aic_difference, 4), term_no)) AS least_aic
    FROM censored_families
    GROUP BY call_id
)
SELECT f.source, f.study, f.study_version, f.variant, f.model, coalesce(m.label, f.model) AS model_label, f.test,
       coalesce(t.label, f.test) AS test_label, f.refusals_removed, f.measure, e.term, e.ratio, e.ratio_low,
       e.ratio_high, e.p_value, e.df, e.median_reference, e.median_other, e.step, e.sd_log, e.zeros_reference,
       e.zeros_reference_predicted, e.zeros_other, e.zeros_other_predicted, a.least_aic, a.aic_gaussian,
       a.aic_negative_binomial, a.aic_two_part, a.aic_hurdle, f.n, f.fit, f.status, f.call_id
FROM censored_effects e
JOIN fits f ON f.call_id = e.call_id
JOIN families a ON a.call_id = e.call_id
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = f.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = f.test;
