-- bayes_ratios: token counts by Bayesian models: the condition effect as a ratio of medians, zeros, families compared.
-- grain: call_id
-- note:  Made by `analyze --fit brms` (`--family`: other families), with R's fit_brms(). Intervals: 95 %, credible;
--        p_above: the probability that the ratio is above 1; p_within_bound: that its logarithm is smaller than `bound`
--        standard deviations (`sd_log`) either way, under the `prior` of the effect. Zeros are shares of answers, observed and predicted.
--        elpd_loo: log probability of each count's interval when it is left out, so that families and steps compare;
--        elpd_difference: to the last lognormal of the same rows (below 0: worse), nats: the same a trial. Approximate
--        if n_bad_pareto_k is above 0.
CREATE OR REPLACE VIEW bayes_ratios AS
WITH counted AS (
    SELECT f.source, f.study, f.study_version, f.variant, f.fit, f.model, f.test, f.data_hash, f.fitted_at, e.call_id,
           e.family
    FROM brms_effects e
    JOIN fits f ON f.call_id = e.call_id
), lognormal AS (
    SELECT * EXCLUDE (family, fitted_at, call_id), arg_max(call_id, (fitted_at, call_id)) AS lognormal_id
    FROM counted
    WHERE family = 'lognormal'
    GROUP BY ALL
), differences AS (
    SELECT c.call_id, sum(p.elpd - b.elpd) AS elpd_difference, avg(p.elpd - b.elpd) AS nats,
           sqrt(count(*)) * stddev_samp(p.elpd - b.elpd) AS se_difference
    FROM counted c
    JOIN lognormal l ON l.source = c.source AND l.study = c.study AND l.study_version = c.study_version
     AND l.variant = c.variant AND l.fit = c.fit AND l.model = c.model AND l.test = c.test AND l.data_hash = c.data_hash
    JOIN brms_pointwise p ON p.call_id = c.call_id
    JOIN brms_pointwise b ON b.call_id = l.lognormal_id AND b.term_no = p.term_no
    GROUP BY c.call_id
)
SELECT f.source, f.study, f.study_version, f.variant, f.model, coalesce(m.label, f.model) AS model_label, f.test,
       coalesce(t.label, f.test) AS test_label, f.refusals_removed, f.measure, e.term, e.family, e.ratio, e.ratio_low,
       e.ratio_high, e.p_above, e.p_within_bound, e.bound, e.sd_log, e.prior, e.median_reference, e.median_other, e.step, e.zeros_reference,
       e.zeros_reference_predicted, e.zeros_other, e.zeros_other_predicted, o.elpd_loo, o.se_elpd_loo,
       d.elpd_difference, d.se_difference, d.nats, o.n_bad_pareto_k, f.n, b.is_converged, b.verdict, f.fit, f.status,
       f.call_id
FROM brms_effects e
JOIN fits f ON f.call_id = e.call_id
JOIN brms_models b ON b.call_id = e.call_id
LEFT JOIN brms_loo o ON o.call_id = e.call_id
LEFT JOIN differences d ON d.call_id = e.call_id
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = f.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = f.test
ORDER BY f.source, f.study, f.study_version, f.variant, f.fit, m.model_no, f.model, t.test_no, f.test,
         f.refusals_removed DESC, f.measure, e.family <> 'lognormal', e.family, f.fitted_at, f.call_id;
