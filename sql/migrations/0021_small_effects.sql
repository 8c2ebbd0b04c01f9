-- Of Bayesian ratios of medians: the probability that the effect is smaller than `bound`, in units of `sd_log` (the standard
-- deviation within conditions of the logarithm of counts at the middle of their steps), and the `prior` of the effect.
ALTER TABLE brms_effects ADD COLUMN sd_log DOUBLE;
ALTER TABLE brms_effects ADD COLUMN bound DOUBLE;
ALTER TABLE brms_effects ADD COLUMN p_within_bound DOUBLE;
ALTER TABLE brms_effects ADD COLUMN prior TEXT;
