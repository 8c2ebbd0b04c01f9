-- allocation_candidates: one candidate of one round a row, unordered: what models of choice start from.
-- grain: trial_id, group
-- design: allocation
-- note:  `is_success` says how the round went, whichever candidate was chosen; `would_succeed` was drawn before the
--        answer: it is what would have come of hiring this candidate, chosen or not.
--        `tries_before` and `successes_before` are those of the group in this class of jobs, earlier in the same game.
--        `shown_at` is its place in the prompt. `features` and `feature_values` are JSON lists, NULL if candidates have
--        nothing but a group. No candidate `is_chosen` in a round without an answer, where the game ended.
CREATE OR REPLACE VIEW allocation_candidates AS
WITH described AS (
    SELECT *,
           map_extract(factor_lists, 'groups')[1] AS groups,
           map_extract(factor_lists, 'groups_shown')[1] AS shown,
           map_extract(factor_lists, 'would_succeed')[1] AS succeeding,
           map_extract(factor_lists, 'p_by_group')[1] AS chances,
           map_extract(factor_lists, 'tries_before')[1] AS tries,
           map_extract(factor_lists, 'successes_before')[1] AS successes,
           '["' || replace(replace(replace(array_to_string(map_extract(factor_lists, 'features')[1], chr(31)), '\', '\\'), '"', '\"'), chr(31), '","')
               || '"]' AS features,
           map_extract(factor_lists, 'candidates')[1] AS candidates
    FROM allocation_round_rows
), numbered AS (
    SELECT *, unnest(range(1, len(groups) + 1)) AS group_no
    FROM described
)
SELECT source, study, study_version, variant, run_id, trial_id, model, participant, game, history, repetition, round, class,
       job,
       groups[group_no] AS "group", group_no,
       nullif(list_position(shown, groups[group_no]), 0) AS shown_at,
       coalesce(choice = groups[group_no], false) AS is_chosen, is_success,
       list_contains(succeeding, groups[group_no]) AS would_succeed,
       try_cast(chances[group_no] AS DOUBLE) AS p_success,
       try_cast(tries[group_no] AS INTEGER) AS tries_before,
       try_cast(successes[group_no] AS INTEGER) AS successes_before,
       features, CASE WHEN features IS NOT NULL THEN candidates[group_no] END AS feature_values,
       answer_format
FROM numbered;
