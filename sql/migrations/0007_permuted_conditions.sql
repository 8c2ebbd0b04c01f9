-- Comparisons of games, studentised: `std_error` of the difference is the jackknife's (one game left out at a time);
-- `p_value` permutes the difference in such errors, `p_unstudentised` the difference itself.
ALTER TABLE game_differences ADD COLUMN std_error DOUBLE;
ALTER TABLE game_differences ADD COLUMN p_unstudentised DOUBLE;

-- Permutations of the conditions of words (`analyze permute` of an association study), a model and test (`domain`) a row
-- of the kind 'population' and the scale 'difference'. p_engine: the p of the engine's own test (Welch's, lme4's) of the
-- data as observed; false_positives: in which share of the permutations that is below .05, with its 95 % interval.
ALTER TABLE permutation_cells ADD COLUMN p_engine DOUBLE;
ALTER TABLE permutation_cells ADD COLUMN false_positives DOUBLE;
ALTER TABLE permutation_cells ADD COLUMN false_positives_low DOUBLE;
ALTER TABLE permutation_cells ADD COLUMN false_positives_high DOUBLE;
-- The same of each permutation: the difference of the conditions in units of the outcome, and the engine's p.
ALTER TABLE permutation_draws ADD COLUMN difference DOUBLE;
ALTER TABLE permutation_draws ADD COLUMN p_value DOUBLE;
