-- calibration_ranks: each quantity in each data set of a calibration: its truth next to its posterior.
-- grain: calibration_id, number, quantity
-- note:  `rank`: how many of n_draws nearly independent draws are below the truth. shrinkage: 1 minus the posterior
--        variance over that of the truths of all data sets. A fit that failed has one row, without a quantity; one that
--        is divergent or unconverged is doubtful, and has its ranks.
CREATE OR REPLACE VIEW calibration_ranks AS
SELECT c.source, c.study, c.study_version, c.variant, c.fit, c.model, c.test, f.number, p.quantity, p.truth, p.rank,
       p.n_draws, p.estimate, p.std_dev, p.conf_low, p.conf_high, p.z_score,
       1 - p.std_dev ** 2 / var_samp(p.truth) OVER (PARTITION BY f.calibration_id, p.quantity) AS shrinkage,
       p.rhat, p.ess_bulk, k.status, f.n_divergent, f.n_max_treedepth, f.iterations, f.n_rows, f.seed, f.priors,
       k.messages, k.seconds, c.calibration_id
FROM calibration_fits f
JOIN calibrations c ON c.calibration_id = f.calibration_id
JOIN calls summary ON summary.call_id = c.call_id
JOIN calls k ON k.call_id = f.call_id
LEFT JOIN calibration_posteriors p ON p.call_id = f.call_id
ORDER BY c.source, c.study, c.study_version, c.variant, summary.ended_at, c.calibration_id, f.number, p.term_no;
