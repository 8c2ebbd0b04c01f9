-- game_index_intervals: SI, BGD, GASI and mutual information of each model and variant, with intervals, next to chance.
-- grain: source, study, study_version, variant, model, index
-- order: source, study, study_version, variant, model_no, model, list_position(['si', 'bgd', 'gasi',
--        'mutual_information_bits'], index), index
-- design: allocation
-- note:  Made by `analyze indices`, with R's game_indices(). `conf` is the t interval over games, `boot` that of a
--        bootstrap of whole games; `random_level` is what chance alone gives to a cell of as many games, choices,
--        groups and classes, 95 % of such cells lie between `random_low` and `random_high`. `mde`: how far from a given
--        value, such as that level, an index must be to be found with a power of 80 %. `game_variant` is the
--        variant without its answer format. `is_current` is false if games came or ended since: the same command
--        does those cells again, and those of another seed or of older R code, which numbers of games can't tell.
--        `n_games` are all complete games: BGD is over those that hired two groups, GASI over groups hired twice, and
--        no bootstrap is made of fewer than five. A variant and model without rows here have no intervals yet.
CREATE OR REPLACE VIEW game_index_intervals AS
WITH now AS (
    SELECT source, study, study_version, variant, model, count(*) FILTER (is_complete) AS n_games,
           count(*) FILTER (NOT is_complete) AS n_incomplete
    FROM allocation_games
    GROUP BY source, study, study_version, variant, model
)
SELECT i.source, i.study, i.study_version, i.variant,
       rtrim(replace(i.variant || '.', '.' || i.answer_format || '.', '.'), '.') AS game_variant,
       i.model, coalesce(m.label, i.model) AS model_label, m.model_no, i.answer_format, i.index,
       i.n_games, i.n_incomplete, i.estimate, i.sd, i.conf_low, i.conf_high, i.boot_low, i.boot_high, i.mde,
       r.level AS random_level, r.level_low AS random_low, r.level_high AS random_high,
       coalesce(n.n_games = i.n_games AND n.n_incomplete = i.n_incomplete, false) AS is_current,
       i.n_boot, i.seed, k.data_hash, k.versions, k.ended_at AS made_at
FROM game_indices i
JOIN calls k ON k.call_id = i.call_id
LEFT JOIN random_levels r ON r.call_id = i.level_call_id AND r.index = i.index
LEFT JOIN now n USING (source, study, study_version, variant, model)
LEFT JOIN models m ON m.study = i.study AND m.study_version = i.study_version AND m.model = i.model;
