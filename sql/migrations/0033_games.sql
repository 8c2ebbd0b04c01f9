-- Games (`analyze indices`, `analyze differences`): how stratified they became, beside what chance alone gives.

-- What chance gives to an index: one kind of cell and index a row. Cells of as many games, rounds, groups and jobs in
-- each class (`class_sizes`: JSON, as in allocation_games) share it. is_balanced: each job comes equally often in a game,
-- instead of being drawn again each round. level is the mean over n_cells random cells, 95 % of which lie between
-- level_low and level_high.
CREATE TABLE random_levels (
    call_id TEXT, n_rounds BIGINT, n_groups BIGINT, class_sizes TEXT, is_balanced BOOLEAN, n_games BIGINT, index TEXT,
    level DOUBLE, level_low DOUBLE, level_high DOUBLE, n_cells BIGINT, seed BIGINT
);

-- One cell (a variant, with the answer format as in trials, of a model) and index a row, over its complete games; R's
-- game_indices() names the indices. sd: over games. conf: the t interval, boot: the bootstrap over games, both 95 %.
CREATE TABLE game_indices (
    call_id TEXT, source TEXT, study TEXT, study_version TEXT, variant TEXT, model TEXT, answer_format TEXT,
    index TEXT, n_games BIGINT, n_incomplete BIGINT, estimate DOUBLE, sd DOUBLE, conf_low DOUBLE, conf_high DOUBLE,
    boot_low DOUBLE, boot_high DOUBLE, level_call_id TEXT, n_boot BIGINT, seed BIGINT, mde DOUBLE
);

-- One comparison and index a row: `condition` minus `reference`, two values of the column that `between` names
-- (variant, model or answer_format), within model, variant (without its answer format) and answer_format; NULL where
-- one of these is what is compared, or was pooled. p_adjusted: by the method `adjust` among n_comparisons.
-- Comparisons of games, studentised: `std_error` of the difference is the jackknife's (one game left out at a time);
-- `p_value` permutes the difference in such errors, `p_unstudentised` the difference itself.
CREATE TABLE game_differences (
    call_id TEXT, source TEXT, study TEXT, study_version TEXT, between TEXT, model TEXT, variant TEXT,
    answer_format TEXT, condition TEXT, reference TEXT, index TEXT, n_games BIGINT, n_games_reference BIGINT,
    difference DOUBLE, boot_low DOUBLE, boot_high DOUBLE, p_value DOUBLE, n_draws BIGINT, seed BIGINT,
    std_error DOUBLE, p_unstudentised DOUBLE, mde DOUBLE
);

-- p values corrected for those that were asked for together, by index. `difference_id` is the call_id of the comparison.
CREATE TABLE game_adjusted (
    call_id TEXT, difference_id TEXT, index TEXT, p_value DOUBLE, n_comparisons BIGINT, p_adjusted DOUBLE, adjust TEXT
);
