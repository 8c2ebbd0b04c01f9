-- allocation_games: the games, unordered: what each was, how far it came, and how it ended.
-- grain: source, study, study_version, variant, model, game
-- reads: allocation_round_rows
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
           min(factors) FILTER (round = 1) AS first_factors,
           -- a round that was left out may be the first
           any_value(factors) AS any_factors
    FROM allocation_round_rows
    GROUP BY source, study, study_version, variant, model, game
), described AS (
    SELECT *, coalesce(first_factors, any_factors) AS facts,
           nullif(regexp_extract(facts, '"groups":(\[".*?"\])', 1), '') AS groups,
           nullif(regexp_extract(facts, '"class_sizes":(\[[0-9,]*\])', 1), '') AS class_sizes,
           try_cast(regexp_extract(facts, '"n_rounds":([0-9]+)', 1) AS INTEGER) AS n_rounds,
           list_sum(string_split(trim(class_sizes, '[]'), ',')::INTEGER[]) AS n_jobs
    FROM counted
)
SELECT source, study, study_version, variant, model, game, repetition, is_pooled,
       regexp_extract(facts, '"answer_format":"([^"]*)"', 1) AS answer_format,
       n_rounds, n_asked, n_answered,
       coalesce(CASE WHEN is_pooled THEN n_asked ELSE n_answered END >= n_rounds, false) AS is_complete,
       ended_as, n_successes, n_with_outcome, served_model_changed,
       len(string_split(groups, '","')) AS n_groups, len(string_split(class_sizes, ',')) AS n_classes,
       groups, class_sizes,
       coalesce(n_asked = n_rounds AND n_answered = n_rounds AND len(map_keys(jobs)) = n_jobs
                AND len(list_distinct(map_values(jobs))) = 1, false) AS is_balanced
FROM described;
