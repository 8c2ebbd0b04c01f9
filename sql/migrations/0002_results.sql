-- What `analyze` computed: one call of a function of R a row. `call_id` is a hash of that function, the rows that it was
-- given (whose own hash is `data_hash`), its arguments, and the R code. `about` (JSON) says what the result is of: a new
-- one takes the place of the earlier one that is about the same. `versions` (JSON) are those of R and its packages.
-- status: 'ok', 'warned', 'failed', or what the function says of itself ('singular', 'divergent').
CREATE TABLE calls (
    call_id TEXT, function TEXT, about TEXT, data_hash TEXT, versions TEXT, status TEXT, messages TEXT, seconds DOUBLE,
    ended_at TIMESTAMP
);

-- The data frames that these calls returned, each in a separate table, distinguished by `call_id`.

-- One fit of one cell a row (the view `fits` has its call beside it). `dropped` says how many rows it left out, by the
-- flag that said so: "is_refusal: 4"; NULL where it has no flags.
CREATE TABLE fit_cells (
    call_id TEXT, fit TEXT, engine TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, model TEXT,
    test TEXT, refusals_removed BOOLEAN, dropped TEXT, measure TEXT, token_source TEXT, formula TEXT,
    n BIGINT, n_missing BIGINT, n_groups BIGINT, log_lik DOUBLE, aic DOUBLE, bic DOUBLE, singular BOOLEAN,
    optimiser TEXT
);

CREATE TABLE estimates (
    call_id TEXT, term_no BIGINT, term TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE variances (call_id TEXT, term_no BIGINT, "group" TEXT, term TEXT, variance DOUBLE, n_groups BIGINT);


-- Topics (`analyze --fit stm`): what a fit of the engine stm found beside its coefficients, which are in `estimates`.
-- `call_id` is that of `fits`, too. Topics have no fixed order: number 3 of one fit is not number 3 of another.

-- One fitted model a row; `file` lies in NAME.duckdb.models beside the database, NULL where it could not be kept.
CREATE TABLE stm_models (
    call_id TEXT, n_topics BIGINT, n_documents BIGINT, n_words BIGINT, n_steps BIGINT, is_converged BOOLEAN,
    bound DOUBLE, seed BIGINT, file TEXT, file_md5 TEXT, file_bytes BIGINT
);

CREATE TABLE stm_topics (
    call_id TEXT, topic BIGINT, proportion DOUBLE, n_dominant BIGINT, semantic_coherence DOUBLE, exclusivity DOUBLE
);

-- kind: 'frex' (words by which the topic differs) or 'prob' (its most frequent words). Words are stems.
CREATE TABLE stm_words (call_id TEXT, topic BIGINT, kind TEXT, place BIGINT, word TEXT);

-- scope says what is kept apart: model, condition, test, or 'model x condition'; the other columns are NULL.
CREATE TABLE stm_prevalence (
    call_id TEXT, scope TEXT, topic BIGINT, model TEXT, condition TEXT, test TEXT,
    estimate DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- Second condition minus first; model NULL: all models together. p_holm and p_bh adjust over the topics and models.
CREATE TABLE stm_contrasts (
    call_id TEXT, topic BIGINT, model TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, p_holm DOUBLE, p_bh DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- lm(proportion ~ condition) in one model and test, and Cohen's d of tokens there.
CREATE TABLE stm_shifts (
    call_id TEXT, topic BIGINT, model TEXT, test TEXT, estimate DOUBLE, std_error DOUBLE, df DOUBLE, statistic DOUBLE,
    p_value DOUBLE, conf_low DOUBLE, conf_high DOUBLE, cohens_d DOUBLE
);

CREATE TABLE stm_correlations (
    call_id TEXT, topic BIGINT, model TEXT, n_cells BIGINT, r DOUBLE, df DOUBLE, statistic DOUBLE, p_value DOUBLE,
    p_holm DOUBLE, p_bh DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE stm_examples (
    call_id TEXT, topic BIGINT, place BIGINT, trial_id TEXT, model TEXT, test TEXT, condition TEXT,
    proportion DOUBLE, text TEXT
);

-- `analyze topics search`: one number of topics tried a row. `search_id` names the documents and the settings.
CREATE TABLE stm_searches (
    call_id TEXT, search_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, fit TEXT, n_topics BIGINT,
    heldout_likelihood DOUBLE, residual_dispersion DOUBLE, semantic_coherence DOUBLE, exclusivity DOUBLE,
    bound DOUBLE, lower_bound DOUBLE, n_steps BIGINT, n_documents BIGINT, n_words BIGINT, seed BIGINT
);


-- The Bayesian models (`analyze --fit brms`): what a fit of the engine brms found beside its coefficients, which are in
-- `estimates`. `call_id` is that of `fits`, too. Intervals hold 95 % of the posterior; probabilities lie between 0 and 1.

-- One fit a row: what was fitted (`formula` without the factors that had one level), how it was sampled, how well, and
-- in words what that is worth. `reference` names the levels that the coefficients start from. `file` (the brmsfit) and
-- `draws_file` (Parquet) lie in NAME.duckdb.models beside the database; NULL where they could not be kept.
CREATE TABLE brms_models (
    call_id TEXT, formula TEXT, n BIGINT, chains BIGINT, iterations BIGINT, warmup BIGINT, adapt_delta DOUBLE,
    max_treedepth BIGINT, seed BIGINT, priors TEXT, reference TEXT,
    n_draws BIGINT, max_rhat DOUBLE, min_ess_bulk DOUBLE, min_ess_tail DOUBLE, n_divergent BIGINT,
    n_max_treedepth BIGINT, min_ebfmi DOUBLE, is_converged BOOLEAN, verdict TEXT, compile_s DOUBLE, sampling_s DOUBLE,
    file TEXT, file_md5 TEXT, file_bytes BIGINT, draws_file TEXT, draws_md5 TEXT, draws_bytes BIGINT
);

-- Predicted probabilities. kind: 'population' (an item of effect 0) or 'item_averaged' (the mean over the items).
CREATE TABLE brms_predictions (
    call_id TEXT, model TEXT, domain TEXT, block TEXT, kind TEXT, estimate DOUBLE, conf_low DOUBLE, conf_high DOUBLE
);

-- First block minus second. scale: 'delta_p' (a difference of probabilities) or 's' (of log odds). p_positive: the
-- share of draws above 0.
CREATE TABLE brms_contrasts (
    call_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT, estimate DOUBLE, median DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_positive DOUBLE
);

-- Posterior predictive checks: a statistic of the data, and of data drawn from the model (`predicted`: their mean);
-- p_value is the share of the latter that lies above. model, domain, block NULL: of all rows.
CREATE TABLE brms_checks (
    call_id TEXT, model TEXT, domain TEXT, block TEXT, statistic TEXT, observed DOUBLE, predicted DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);

-- Leave-one-out cross-validation (PSIS-LOO): expected log predictive density, effective number of parameters, and how
-- many rows have a Pareto k at which the approximation fails.
CREATE TABLE brms_loo (
    call_id TEXT, elpd_loo DOUBLE, se_elpd_loo DOUBLE, p_loo DOUBLE, se_p_loo DOUBLE, looic DOUBLE, se_looic DOUBLE,
    max_pareto_k DOUBLE, n_bad_pareto_k BIGINT, n_draws BIGINT
);

-- The same predictions and contrasts from a mixed model with a binomial outcome (`analyze --fit lme4`).
CREATE TABLE lme4_predictions (
    call_id TEXT, model TEXT, domain TEXT, block TEXT, kind TEXT, estimate DOUBLE, std_error DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE
);

CREATE TABLE lme4_contrasts (
    call_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT, estimate DOUBLE, std_error DOUBLE,
    conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE
);


-- Falsification by permutation (`analyze permute`): refits of a fit to data whose block labels were swapped at random.

-- One run of the test a row: which fit, of which rows, with which seed and settings (JSON). `n_permutations` were asked
-- for; how many took part is in permutation_cells. `n_one_block`: items answered in one block only, by model and
-- domain; their only label is drawn, too. `rows_hash`: of the rows as observed, as `data_hash` of their fits is.
-- `refit_seconds`: of all refits together.
CREATE TABLE permutations (
    call_id TEXT, permutation_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT, fit TEXT, engine TEXT,
    formula TEXT, block TEXT, unit TEXT, within TEXT, seed BIGINT, n_permutations BIGINT, settings TEXT,
    n_rows BIGINT, n_units BIGINT, n_one_block BIGINT, rows_hash TEXT, refit_seconds DOUBLE
);

-- One refit a row; number 0 is the data as observed, fitted with the same settings. The `status` of its call: 'ok',
-- 'divergent', 'unconverged', 'warned' (lme4) or 'failed'.
CREATE TABLE permutation_refits (
    call_id TEXT, permutation_id TEXT, number BIGINT, seed BIGINT, n_divergent BIGINT, n_max_treedepth BIGINT,
    is_singular BOOLEAN
);

-- One refit and cell (model and domain) a row. delta_p: difference of probabilities, s: of log odds, both
-- population-level; delta_p_items: of probabilities averaged over the items with their random intercepts. Of brms the
-- posterior's mean, its sd, and the Monte Carlo standard error of that mean. is_separated: all alike in one block.
CREATE TABLE permutation_draws (
    call_id TEXT, number BIGINT, model TEXT, domain TEXT,
    delta_p DOUBLE, delta_p_sd DOUBLE, delta_p_mcse DOUBLE,
    delta_p_items DOUBLE, delta_p_items_sd DOUBLE, delta_p_items_mcse DOUBLE, s DOUBLE, s_sd DOUBLE, s_mcse DOUBLE,
    rhat DOUBLE, ess_bulk DOUBLE, is_separated BOOLEAN
);

-- One cell, kind ('population', 'item_averaged') and scale ('delta_p', 's') a row: the observed value beside its null
-- distribution. n_as_large: k of p = (1 + k) / (1 + n). p_low, p_high: Clopper and Pearson's 95 % interval of k / n.
CREATE TABLE permutation_cells (
    call_id TEXT, model TEXT, domain TEXT, kind TEXT, scale TEXT,
    observed DOUBLE, null_mean DOUBLE, null_sd DOUBLE, null_low DOUBLE, null_median DOUBLE, null_high DOUBLE,
    n BIGINT, n_failed BIGINT, n_divergent BIGINT, n_unconverged BIGINT, n_warned BIGINT, n_separated BIGINT,
    n_as_large BIGINT, p_one_sided DOUBLE, p_low DOUBLE, p_high DOUBLE,
    p_two_sided DOUBLE, p_two_sided_low DOUBLE, p_two_sided_high DOUBLE, p_if_failed_large DOUBLE, noise_share DOUBLE
);


-- Sensitivity (`analyze sensitivity`): the same question, asked in other ways.

-- One number of one specification and cell a row. `call_id` names the fit that it is from: one of interference has a row
-- for each model and domain (`test`). `row_no` is its place among them, in the paper's order; `choices` are JSON. d, d_low
-- and d_high are in standard deviations, NULL for probabilities. A fit that failed is one row without an estimate.
CREATE TABLE sensitivity (
    call_id TEXT, study TEXT, study_version TEXT, source TEXT, variant TEXT,
    spec TEXT, spec_no BIGINT, label TEXT, choices TEXT, fit TEXT, engine TEXT, formula TEXT,
    row_no BIGINT, model TEXT, test TEXT, estimand TEXT, unit TEXT,
    estimate DOUBLE, std_error DOUBLE, conf_low DOUBLE, conf_high DOUBLE, p_value DOUBLE, p_positive DOUBLE,
    d DOUBLE, d_low DOUBLE, d_high DOUBLE,
    n BIGINT, n_left_out BIGINT, n_missing BIGINT, status TEXT, messages TEXT
);


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
    call_id TEXT, source TEXT, study TEXT, study_version TEXT, variant TEXT, model TEXT, answer_format TEXT, index TEXT,
    n_games BIGINT, n_incomplete BIGINT, estimate DOUBLE, sd DOUBLE, conf_low DOUBLE, conf_high DOUBLE,
    boot_low DOUBLE, boot_high DOUBLE, level_call_id TEXT, n_boot BIGINT, seed BIGINT
);

-- One comparison and index a row: `condition` minus `reference`, two values of the column that `between` names
-- (variant, model or answer_format), within model, variant (without its answer format) and answer_format; NULL where
-- one of these is what is compared, or was pooled. p_adjusted: by the method `adjust` among n_comparisons.
CREATE TABLE game_differences (
    call_id TEXT, source TEXT, study TEXT, study_version TEXT, between TEXT, model TEXT, variant TEXT,
    answer_format TEXT, condition TEXT, reference TEXT, index TEXT, n_games BIGINT, n_games_reference BIGINT,
    difference DOUBLE, boot_low DOUBLE, boot_high DOUBLE, p_value DOUBLE, n_draws BIGINT, seed BIGINT
);

-- p values corrected for those that were asked for together, by index. `difference_id` is the call_id of the comparison.
CREATE TABLE game_adjusted (
    call_id TEXT, difference_id TEXT, index TEXT, p_value DOUBLE, n_comparisons BIGINT, p_adjusted DOUBLE, adjust TEXT
);
