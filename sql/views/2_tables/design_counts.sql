-- design_counts: how many conditions, groups, words and trials each model has in each test.
-- grain: sorted by source, study, study_version, variant, model, test, structured_output
-- design: forced_choice
-- note:  what is here, not what was planned: a run in progress has fewer. `least_words` and `most_words`: of the
--        groups. Repetitions add to `n_trials` only.
CREATE OR REPLACE VIEW design_counts AS
WITH by_word AS (
    SELECT source, study, study_version, variant, model, test, structured_output, condition, "group", word,
           count(*) AS n_trials
    FROM forced_choice_answer_rows
    GROUP BY source, study, study_version, variant, model, test, structured_output, condition, "group", word
), by_group AS (
    SELECT source, study, study_version, variant, model, test, structured_output, "group",
           count(DISTINCT condition) AS n_conditions, count(DISTINCT word) AS n_words, sum(n_trials)::BIGINT AS n_trials
    FROM by_word
    GROUP BY source, study, study_version, variant, model, test, structured_output, "group"
)
SELECT source, study, study_version, variant, model, test, structured_output,
       max(n_conditions) AS n_conditions, count(*) AS n_groups, min(n_words) AS least_words, max(n_words) AS most_words,
       sum(n_words)::BIGINT AS n_items, sum(n_trials)::BIGINT AS n_trials
FROM by_group
GROUP BY source, study, study_version, variant, model, test, structured_output;
