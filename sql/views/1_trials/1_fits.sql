-- fits: every fit that is kept, one cell each, with what R said of it.
-- grain: call_id
-- order: study, fit, source, study_version, variant, model, test, fitted_at, call_id
-- note:  Made by `analyze --fit`. `dropped` says how many rows were left out, by the flag that said so. `versions` are
--        those of R and of the packages that took part.
CREATE OR REPLACE VIEW fits AS
SELECT f.call_id, f.fit, f.engine, f.study, f.study_version, f.source, f.variant, f.model, f.test, f.refusals_removed,
       f.dropped, f.measure, f.token_source, f.formula, c.data_hash, c.status, f.n, f.n_missing, f.n_groups, f.log_lik,
       f.aic, f.bic, f.singular, f.optimiser, c.messages, c.versions, c.seconds, c.ended_at AS fitted_at
FROM fit_cells f
JOIN calls c USING (call_id);
