-- allocation_games: the games, unordered: what each was, how far it came, and how it ended.
-- grain: source, study, study_version, variant, model, game
-- design: allocation
-- note:  `n_rounds` were to be played, `n_answered` have a choice. `is_complete`: all of them; of pooled single rounds
--        (prior_associations: `is_pooled`) that all were asked. `ended_as` is the outcome that ended a game early, NULL
--        of one that is still being played. Indices of a cell are over complete games; the others are counted separately.
--        `groups` and `class_sizes` (jobs in each class) are JSON, in the study's order. `is_balanced`: each job came
--        equally often and was given to a group each time, which lowers the level of chance.
CREATE OR REPLACE VIEW allocation_games AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, game,
           min(repetition) AS repetition,
           min(repetition) < max(repetition) AS is_pooled,
           count(*) AS n_asked,
           count(choice) AS n_answered,
           histogram(job) AS jobs,
           count(*) FILTER (is_success) AS n_successes,
           count(is_success) AS n_with_outcome,
           min(outcome) FILTER (outcome <> 'answered') AS ended_as,
           bool_or(served_model_changed) AS served_model_changed,
           arg_min(factor_lists, round) AS factor_lists
    FROM allocation_round_rows
    GROUP BY source, study, study_version, variant, model, game
), described AS (
    SELECT *, map_extract(factor_lists, 'groups')[1] AS group_list, map_extract(factor_lists, 'class_sizes')[1] AS sizes,
           '["' || replace(replace(replace(array_to_string(group_list, chr(31)), '\', '\\'), '"', '\"'), chr(31), '","')
               || '"]' AS groups,
           '[' || array_to_string(sizes, ',') || ']' AS class_sizes,
           try_cast(map_extract(factor_lists, 'n_rounds')[1][1] AS INTEGER) AS n_rounds, list_sum(sizes::INTEGER[]) AS n_jobs
    FROM counted
)
SELECT source, study, study_version, variant, model, game, repetition, is_pooled,
       coalesce(map_extract(factor_lists, 'answer_format')[1][1], '') AS answer_format,
       n_rounds, n_asked, n_answered,
       coalesce(CASE WHEN is_pooled THEN n_asked ELSE n_answered END >= n_rounds, false) AS is_complete,
       ended_as, n_successes, n_with_outcome, served_model_changed,
       len(group_list) AS n_groups, len(sizes) AS n_classes,
       groups, class_sizes,
       coalesce(n_asked = n_rounds AND n_answered = n_rounds AND len(map_keys(jobs)) = n_jobs
                AND len(list_distinct(map_values(jobs))) = 1, false) AS is_balanced
FROM described;
