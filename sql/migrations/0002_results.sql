-- What `analyze` computed. `fit_id` names one fit of one cell. `dropped` says how many rows
-- it left out, by the flag that said so: "is_refusal: 4"; NULL where it has no flags.
CREATE TABLE fits (
    fit_id TEXT, fit TEXT, engine TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, model TEXT, test TEXT,
    refusals_removed BOOLEAN, measure TEXT, token_source TEXT, formula TEXT, data_hash TEXT,
    status TEXT, n BIGINT, n_missing BIGINT, n_groups INTEGER, log_lik DOUBLE, aic DOUBLE, bic DOUBLE,
    singular BOOLEAN, optimiser TEXT, messages TEXT, versions TEXT, seconds DOUBLE, fitted_at TIMESTAMP,
    dropped TEXT
);

CREATE TABLE estimates (
    fit_id TEXT, term_no INTEGER, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE variances (fit_id TEXT, term_no INTEGER, "group" TEXT, term TEXT, variance DOUBLE, n_groups INTEGER);


-- Topics (`analyze --fit stm`): what a fit of the engine stm found beside its coefficients, which are in `estimates`.
-- `fit_id` is that of `fits`. Topics have no fixed order: number 3 of one fit is not number 3 of another.

-- One fitted model a row; `file` lies in NAME.duckdb.models beside the database, NULL where it could not be kept.
CREATE TABLE stm_models (
    fit_id TEXT, n_topics INTEGER, n_documents BIGINT, n_words INTEGER, n_steps INTEGER, is_converged BOOLEAN,
    bound DOUBLE, seed BIGINT, file TEXT, file_md5 TEXT, file_bytes BIGINT
);

CREATE TABLE stm_topics (
    fit_id TEXT, topic INTEGER, proportion DOUBLE, n_dominant BIGINT, semantic_coherence DOUBLE, exclusivity DOUBLE
);

-- kind: 'frex' (words by which the topic differs) or 'prob' (its most frequent words). Words are stems.
CREATE TABLE stm_words (fit_id TEXT, topic INTEGER, kind TEXT, place INTEGER, word TEXT);

-- scope says what is told apart: model, condition, test, or 'model x condition'; the other columns are NULL.
CREATE TABLE stm_prevalence (
    fit_id TEXT, scope TEXT, topic INTEGER, model TEXT, condition TEXT, test TEXT,
    estimate DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- Second condition minus first; model NULL: all models together. p_holm and p_bh adjust over the topics and models.
CREATE TABLE stm_contrasts (
    fit_id TEXT, topic INTEGER, model TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, p_holm DOUBLE, p_bh DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- lm(proportion ~ condition) in one model and test, and Cohen's d of tokens there.
CREATE TABLE stm_shifts (
    fit_id TEXT, topic INTEGER, model TEXT, test TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, cohens_d DOUBLE
);

CREATE TABLE stm_correlations (
    fit_id TEXT, topic INTEGER, model TEXT, n_cells INTEGER, r DOUBLE, df DOUBLE, statistic DOUBLE, p_value DOUBLE,
    p_holm DOUBLE, p_bh DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE stm_examples (
    fit_id TEXT, topic INTEGER, place INTEGER, trial_id TEXT, model TEXT, test TEXT, condition TEXT,
    proportion DOUBLE, text TEXT
);

-- `analyze topics search`: one number of topics tried a row. `search_id` names the documents and the settings.
CREATE TABLE stm_searches (
    search_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, fit TEXT, n_topics INTEGER,
    heldout_likelihood DOUBLE, residual_dispersion DOUBLE, semantic_coherence DOUBLE, exclusivity DOUBLE,
    bound DOUBLE, lower_bound DOUBLE, n_steps INTEGER, n_documents BIGINT, n_words INTEGER, seed BIGINT,
    data_hash TEXT, versions TEXT, seconds DOUBLE, searched_at TIMESTAMP
);


-- The Bayesian models (`analyze --fit brms`): what a fit of the engine brms found beside its coefficients, which are in
-- `estimates`. `fit_id` is that of `fits`. Intervals hold 95 % of the posterior; probabilities lie between 0 and 1.

-- One fit a row: what was fitted (`formula` without the factors that had one level), how it was sampled, how well, and
-- in words what that is worth. `reference` names the levels that the coefficients start from. `file` (the brmsfit) and
-- `draws_file` (Parquet) lie in NAME.duckdb.models beside the database; NULL where they could not be kept.
CREATE TABLE brms_models (
    fit_id TEXT, formula TEXT, n BIGINT, chains INTEGER, iterations INTEGER, warmup INTEGER, adapt_delta DOUBLE,
    max_treedepth INTEGER, seed BIGINT, priors TEXT, reference TEXT,
    n_draws BIGINT, max_rhat DOUBLE, min_ess_bulk DOUBLE, min_ess_tail DOUBLE, n_divergent BIGINT,
    n_max_treedepth BIGINT, min_ebfmi DOUBLE, is_converged BOOLEAN, verdict TEXT, compile_s DOUBLE, sampling_s DOUBLE,
    file TEXT, file_md5 TEXT, file_bytes BIGINT, draws_file TEXT, draws_md5 TEXT, draws_bytes BIGINT
);

-- Predicted probabilities. kind: 'population' (an item of effect 0) or 'item_averaged' (the mean over the items).
CREATE TABLE brms_predictions (
    fit_id TEXT, model TEXT, domain TEXT, block TEXT, kind TEXT, estimate DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- First block minus second. scale: 'delta_p' (a difference of probabilities) or 's' (of log odds). p_positive: the
-- share of draws above 0.
CREATE TABLE brms_contrasts (
    fit_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT, estimate DOUBLE, median DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_positive DOUBLE
);

-- Posterior predictive checks: a statistic of the data, and of data drawn from the model (`predicted`: their mean);
-- p_value is the share of the latter that lies above. model, domain, block NULL: of all rows.
CREATE TABLE brms_checks (
    fit_id TEXT, model TEXT, domain TEXT, block TEXT, statistic TEXT, observed DOUBLE, predicted DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);

-- Leave-one-out cross-validation (PSIS-LOO): expected log predictive density, effective number of parameters, and how
-- many rows have a Pareto k at which the approximation fails.
CREATE TABLE brms_loo (
    fit_id TEXT, elpd_loo DOUBLE, se_elpd_loo DOUBLE, p_loo DOUBLE, se_p_loo DOUBLE, looic DOUBLE, se_looic DOUBLE,
    max_pareto_k DOUBLE, n_bad_pareto_k BIGINT, n_draws BIGINT
);

-- The same predictions and contrasts from a mixed model with a binomial outcome (`analyze --fit lme4`).
CREATE TABLE lme4_predictions (
    fit_id TEXT, model TEXT, domain TEXT, block TEXT, kind TEXT, estimate DOUBLE, std_error DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE lme4_contrasts (
    fit_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT, estimate DOUBLE, std_error DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);


-- Falsification by permutation (`analyze permute`): refits of a fit to data whose block labels were swapped at random.

-- One run of the test a row: which fit, of which rows, with which seed and settings (JSON). `n_permutations` were asked
-- for; how many took part stands in permutation_cells. `n_one_block`: items answered in one block only, by model and
-- domain; their only label is drawn, too.
CREATE TABLE permutations (
    permutation_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, fit TEXT, engine TEXT,
    formula TEXT, block TEXT, unit TEXT, within TEXT, seed BIGINT, n_permutations INTEGER, settings TEXT,
    n_rows BIGINT, n_units BIGINT, n_one_block BIGINT, data_hash TEXT, versions TEXT, seconds DOUBLE,
    finished_at TIMESTAMP
);

-- One refit a row; number 0 is the data as observed, fitted with the same settings. status: 'ok', 'divergent',
-- 'unconverged', 'warned' (lme4) or 'failed'.
CREATE TABLE permutation_refits (
    permutation_id TEXT, number INTEGER, seed BIGINT, status TEXT, n_divergent INTEGER, n_max_treedepth INTEGER,
    is_singular BOOLEAN, messages TEXT, seconds DOUBLE
);

-- One refit and cell (model and domain) a row. delta_p: difference of probabilities, s: of log odds, both
-- population-level; delta_p_items: of probabilities averaged over the items with their random intercepts. Of brms the
-- posterior's mean, its sd, and the Monte Carlo standard error of that mean. is_separated: all alike in one block.
CREATE TABLE permutation_draws (
    permutation_id TEXT, number INTEGER, model TEXT, domain TEXT,
    delta_p DOUBLE, delta_p_sd DOUBLE, delta_p_mcse DOUBLE,
    delta_p_items DOUBLE, delta_p_items_sd DOUBLE, delta_p_items_mcse DOUBLE, s DOUBLE, s_sd DOUBLE, s_mcse DOUBLE,
    rhat DOUBLE, ess_bulk DOUBLE, is_separated BOOLEAN
);

-- One cell, kind ('population', 'item_averaged') and scale ('delta_p', 's') a row: the observed value beside its null
-- distribution. n_as_large: k of p = (1 + k) / (1 + n). p_low, p_high: Clopper and Pearson's 95 % interval of k / n.
CREATE TABLE permutation_cells (
    permutation_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT,
    observed DOUBLE, null_mean DOUBLE, null_sd DOUBLE, null_low DOUBLE, null_median DOUBLE, null_high DOUBLE,
    n INTEGER, n_failed INTEGER, n_divergent INTEGER, n_unconverged INTEGER, n_warned INTEGER, n_separated INTEGER,
    n_as_large INTEGER, p_one_sided DOUBLE, p_low DOUBLE, p_high DOUBLE,
    p_two_sided DOUBLE, p_two_sided_low DOUBLE, p_two_sided_high DOUBLE, p_if_failed_large DOUBLE, noise_share DOUBLE
);


-- Sensitivity (`analyze sensitivity`): the same question, asked in other ways.

-- One number of one specification and cell a row. `spec_id` names the fit that it is from: one of interference has a row
-- for each model and domain (`test`). `row_no` is its place among them, in the paper's order; `choices` are JSON. d, d_low
-- and d_high are in standard deviations, NULL for probabilities. A fit that failed is one row without an estimate.
CREATE TABLE sensitivity (
    spec_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT,
    spec TEXT, spec_no INTEGER, label TEXT, choices TEXT, fit TEXT, engine TEXT, formula TEXT,
    row_no INTEGER, model TEXT, test TEXT, estimand TEXT, unit TEXT,
    estimate DOUBLE, std_error DOUBLE, conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE, p_positive DOUBLE,
    d DOUBLE, d_low DOUBLE, d_high DOUBLE,
    n BIGINT, n_left_out BIGINT, n_missing BIGINT, status TEXT, messages TEXT,
    data_hash TEXT, versions TEXT, seconds DOUBLE, fitted_at TIMESTAMP
);


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
