-- Estimands of attributes (`analyze --fit` with the engines marginal_means, amce, mean_contrasts, impact_ratio, R's
-- functions of these names) and the reliability of scales (engine reliability, R's scale_reliability()). Estimates and
-- their intervals are in `estimates`, by `term`; here is what each is of. `ratios` have the level they are compared with
-- as a row, too. `call_id` is that of `fits`.
-- `method` is how the error over `clusters` was computed (HC1, CR2, pooled, two ways, cregg), `n_clusters` those of the
-- level with the fewest.
CREATE TABLE marginal_means_levels (
    call_id TEXT, term_no BIGINT, term TEXT, attribute TEXT, level TEXT, n BIGINT, clusters TEXT, n_clusters BIGINT,
    method TEXT
);

CREATE TABLE amce_levels (
    call_id TEXT, term_no BIGINT, term TEXT, attribute TEXT, level TEXT, reference TEXT, n BIGINT, n_strata BIGINT,
    clusters TEXT, n_clusters BIGINT, method TEXT
);

CREATE TABLE mean_contrasts_contrasts (
    call_id TEXT, term_no BIGINT, term TEXT, attribute TEXT, level TEXT, first TEXT, second TEXT, p_adjusted DOUBLE,
    n_compared BIGINT, clusters TEXT, n_clusters BIGINT, method TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE impact_ratio_ratios (
    call_id TEXT, term_no BIGINT, term TEXT, attribute TEXT, level TEXT, reference TEXT, rate DOUBLE, n BIGINT,
    ratio DOUBLE, conf_low DOUBLE, conf_high DOUBLE, is_below_four_fifths BOOLEAN, reference_rate DOUBLE,
    n_reference BIGINT, p_value DOUBLE, verdict TEXT
);

-- One row a version and one for what it adds to the placebos: `n_pairs` of material and respondent, and the mean
-- absolute difference beside what shuffled repetitions give (R's paired_differences()).
CREATE TABLE paired_versions (
    call_id TEXT, term_no BIGINT, term TEXT, attribute TEXT, level TEXT, n_materials BIGINT, n_pairs BIGINT,
    p_adjusted DOUBLE, mean_absolute DOUBLE, shuffled_mean DOUBLE, shuffled_low DOUBLE, shuffled_high DOUBLE
);

CREATE TABLE reliability_scales (
    call_id TEXT, term_no BIGINT, scale TEXT, n_items BIGINT, n_reversed BIGINT, n BIGINT, mean DOUBLE, sd DOUBLE,
    alpha_raw DOUBLE, alpha_std DOUBLE, alpha_without_reversing DOUBLE, omega_total DOUBLE, mean_r DOUBLE,
    n_negative BIGINT, doubts TEXT
);

CREATE TABLE reliability_items (
    call_id TEXT, term_no BIGINT, scale TEXT, item TEXT, key BIGINT, n BIGINT, mean DOUBLE, sd DOUBLE,
    item_rest_r DOUBLE, loading DOUBLE
);

CREATE TABLE reliability_scores (
    call_id TEXT, term_no BIGINT, respondent TEXT, scale TEXT, n_answered BIGINT, score DOUBLE
);

-- D scores of people (`analyze --fit` with the engine d_score, R's d_score(): Greenwald, Nosek & Banaji 2003), one row a
-- person (`unit`): `d`; `n` latencies, without `n_slow` above 10,000 ms; `n_errors`; `share_fast` below 300 ms;
-- `n_phases`; `left_out` says why somebody has no D. `call_id` is that of `fits`, too.
CREATE TABLE d_score_people (
    call_id TEXT, term_no BIGINT, unit TEXT, d DOUBLE, n BIGINT, n_slow BIGINT, n_errors BIGINT, share_fast DOUBLE,
    n_phases BIGINT, left_out TEXT
);
