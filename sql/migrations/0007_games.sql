-- Games (`analyze indices`, `analyze differences`): how stratified they became, beside what chance alone gives.

-- What chance gives to an index: one kind of cell and index a row. Cells of as many games, rounds, groups and jobs in
-- each class (`class_sizes`: JSON, as in allocation_games) share it. is_balanced: each job comes equally often in a game,
-- instead of being drawn anew each round. level is the mean over n_cells random cells, 95 % of which lie between
-- level_low and level_high.
CREATE TABLE random_levels (
    n_rounds INTEGER, n_groups INTEGER, class_sizes TEXT, is_balanced BOOLEAN, n_games INTEGER, index TEXT,
    level DOUBLE, level_low DOUBLE, level_high DOUBLE, n_cells INTEGER, seed BIGINT, versions TEXT, made_at TIMESTAMP
);

-- One cell (a variant, with the answer format as in trials, of a model) and index a row, over its complete games; R's
-- game_indices() names the indices. sd: over games. conf: the t interval, boot: the bootstrap over games, both 95 %.
CREATE TABLE game_indices (
    source TEXT, study TEXT, study_version TEXT, variant TEXT, model TEXT, answer_format TEXT, index TEXT,
    n_games INTEGER, n_incomplete INTEGER, estimate DOUBLE, sd DOUBLE, conf_low DOUBLE, conf_high DOUBLE,
    boot_low DOUBLE, boot_high DOUBLE, random_level DOUBLE, random_low DOUBLE, random_high DOUBLE,
    n_boot INTEGER, seed BIGINT, data_hash TEXT, versions TEXT, made_at TIMESTAMP
);

-- One comparison and index a row: `condition` minus `reference`, two values of the column that `between` names
-- (variant, model or answer_format), within model, variant (without its answer format) and answer_format; NULL where
-- one of these is what is compared, or was pooled. p_adjusted: by the method `adjust` among n_comparisons.
CREATE TABLE game_differences (
    source TEXT, study TEXT, study_version TEXT, between TEXT, model TEXT, variant TEXT, answer_format TEXT,
    condition TEXT, reference TEXT, index TEXT, n_games INTEGER, n_games_reference INTEGER,
    difference DOUBLE, boot_low DOUBLE, boot_high DOUBLE, p_value DOUBLE, n_comparisons INTEGER, p_adjusted DOUBLE,
    adjust TEXT, n_draws INTEGER, seed BIGINT, data_hash TEXT, versions TEXT, made_at TIMESTAMP
);
