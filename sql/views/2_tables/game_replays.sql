-- game_replays: whether games that a fitted model of choice plays look like those that were played.
-- grain: call_id, policy, statistic, kind
-- note:  Made by `analyze --fit policies` and `--fit learning` (`policy` is "hierarchical learner" then). Whole games are
--        replayed at the true chances of success: `observed` with the mean and the middle 95 % of the replays. kind mean:
--        over games; sd: between games. `p_adjusted` (Holm, over the statistics of a model) under .05 does not pass.
--        one_minus_herfindahl: 1 - the sum of squared shares of the groups; switch_after_success, …_failure: share of rounds
--        with another group than the last of the class; groups_tried: share of the groups of a class ever chosen;
--        entropy_block_1 …: bits of the groups chosen in each ten rounds; si, bgd, gasi as in allocation_indices.
CREATE OR REPLACE VIEW game_replays AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, c.policy, c.statistic, c.kind, c.observed, c.predicted,
       c.conf_low, c.conf_high, c.p_value, c.p_adjusted, c.passes, f.fit, f.status, f.fitted_at, f.call_id
FROM (
    FROM policies_checks UNION ALL BY NAME SELECT *, 'hierarchical learner' AS policy FROM learning_checks
) c
JOIN fits f ON f.call_id = c.call_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.model, f.fit, f.call_id, c.term_no;
