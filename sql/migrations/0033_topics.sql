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
