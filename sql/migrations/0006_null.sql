-- Comparisons of games, studentised: `std_error` of the difference is the jackknife's (one game left out at a time);
-- `p_value` permutes the difference in such errors, `p_unstudentised` the difference itself.
ALTER TABLE game_differences ADD COLUMN std_error DOUBLE;
ALTER TABLE game_differences ADD COLUMN p_unstudentised DOUBLE;
