-- set_aside_runs: the runs that were set aside, and why: none of their answers counts in any table, fit or figure.
-- grain: source, study, study_version, variant, model, run_id
-- order: source, study, study_version, variant, model, run_id
-- note:  made by `collect set-aside RUN --reason TEXT`, and taken back by --undo. The answers stay in the table attempts.
CREATE OR REPLACE VIEW set_aside_runs AS
SELECT a.source, a.study, a.study_version, a.variant, a.model, s.run_id, s.reason, s.set_aside_at,
       count(*) FILTER (a.is_final AND a.occasion IS NULL) AS n_trials
FROM aside_runs s
JOIN attempts a ON a.run_id = s.run_id
GROUP BY a.source, a.study, a.study_version, a.variant, a.model, s.run_id, s.reason, s.set_aside_at;
