-- topic_models: the topic models that were fitted, how, and to what.
-- grain: call_id
-- order: source, study, study_version, variant, fit, call_id
-- note:  `is_converged` is false if the fit was stopped at its last allowed step, as the paper's may be. `file`
--        lies in NAME.duckdb.models next to the database; R's read_topics() opens it.
CREATE OR REPLACE VIEW topic_models AS
SELECT f.source, f.study, f.study_version, f.variant, f.fit, m.n_topics, m.n_documents, m.n_words, m.n_steps,
       m.is_converged, m.bound, m.seed, f.formula, f.status, f.n_missing, f.data_hash, f.versions, f.seconds,
       f.fitted_at, m.file, f.call_id
FROM stm_models m
JOIN fits f ON f.call_id = m.call_id;
