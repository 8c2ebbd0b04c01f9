-- policy_candidates: which ways to choose among groups predict the games of a model.
-- grain: call_id, policy
-- note:  Made by `analyze --fit policies`. `elpd` is the log probability of games that a candidate has not seen (K-fold over
--        games), `elpd_difference` that to the best one, with its standard error over games. `nats` a choice: log K is
--        chance. `passes`: games replayed by the candidate look like those that were played; NULL if they could not be
--        replayed. The best candidate may fail, and then describes nothing.
CREATE OR REPLACE VIEW policy_candidates AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, c.policy, c.n_parameters, c.log_lik, c.nats, c.bic, c.elpd,
       c.se_elpd, c.elpd_difference, c.se_difference, c.is_best, c.passes, c.verdict, f.n_groups AS n_games, f.fit,
       f.status, f.fitted_at, f.call_id
FROM policies_candidates c
JOIN fits f ON f.call_id = c.call_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.model, f.fit, f.call_id, c.term_no;
