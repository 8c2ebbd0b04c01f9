-- What could have been found: `mde`, the smallest effect (of an index of games: distance from a given value) that is
-- found with a power of 80 % in a two-sided test at 5 %, in units of the estimate. R's minimum_detectable_effect()
-- makes it of the standard error and its degrees of freedom. `std_error` of a contrast: standard deviation of the
-- posterior.
ALTER TABLE brms_contrasts ADD COLUMN std_error DOUBLE;
ALTER TABLE brms_contrasts ADD COLUMN mde DOUBLE;
ALTER TABLE lme4_contrasts ADD COLUMN mde DOUBLE;
ALTER TABLE game_indices ADD COLUMN mde DOUBLE;
ALTER TABLE game_differences ADD COLUMN mde DOUBLE;
