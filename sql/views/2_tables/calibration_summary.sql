-- calibration_summary: is each quantity of a Bayesian fit found as often as its posterior says? (`analyze calibrate`)
-- grain: calibration_id, quantity
-- note:  outcomes are drawn from the priors; `source` is that of the rows they are drawn for. p_value: of ranks that
--        somewhere lie as far from uniform as these, in a right sampler; below .05 they leave their band (is_in_band is
--        false), which one of twenty right quantities does; p_adjusted corrects for their number (Holm). n has ranks;
--        n_doubtful of these had divergent transitions or did not converge; n_failed has none. coverage: of the 95 %
--        intervals. mean_z and sd_z: 0 and 1 where all is right; shrinkage: 1 minus the posterior variance over the
--        prior's. mean_rank, as a share of n_draws: .5 if all is right. model and test NULL: of all together.
CREATE OR REPLACE VIEW calibration_summary AS
SELECT c.source, c.study, c.study_version, c.variant, c.fit, c.model, c.test, q.quantity, q.n, q.n_failed, q.n_doubtful,
       q.n_draws, q.p_value, q.p_adjusted, q.is_in_band, q.n_held, q.coverage, q.mean_z, q.sd_z, q.shrinkage,
       q.mean_rank, q.min_ess_bulk, c.n_data_sets, c.family, c.formula, c.priors, c.seed, c.settings, c.n_rows,
       c.rows_hash AS data_hash, k.versions, c.fit_seconds AS seconds, k.ended_at AS finished_at, c.calibration_id
FROM calibration_quantities q
JOIN calibrations c ON c.call_id = q.call_id
JOIN calls k ON k.call_id = q.call_id
ORDER BY c.source, c.study, c.study_version, c.variant, k.ended_at, c.calibration_id, q.term_no;
