-- replayed_curves: how choices settle by round, in games and in their replays by fitted models of choice.
-- grain: call_id, policy, measure, round
-- note:  Made by `analyze --fit policies` and `--fit learning` (`policy` is "hierarchical learner" then). Shares of games,
--        as running means over five rounds: success; repeated, the last group of the class once more; new_group, one that
--        was never tried in the class. `predicted` is the mean of the replays, with their middle 95 %; `passes` is that of
--        all statistics of the policy (game_replays).
CREATE OR REPLACE VIEW replayed_curves AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, c.policy, c.measure, c.round, c.observed, c.predicted,
       c.conf_low, c.conf_high, coalesce(p.passes, l.passes) AS passes, coalesce(p.is_best, false) AS is_best,
       f.n_groups AS n_games, f.fit, f.status, f.fitted_at, f.call_id
FROM (
    FROM policies_curves UNION ALL BY NAME SELECT *, 'hierarchical learner' AS policy FROM learning_curves
) c
JOIN fits f ON f.call_id = c.call_id
LEFT JOIN policies_candidates p ON p.call_id = c.call_id AND p.policy = c.policy
LEFT JOIN learning_learner l ON l.call_id = c.call_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.model, f.fit, f.call_id, c.term_no;
