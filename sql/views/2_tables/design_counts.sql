-- design_counts: how many blocks, categories, words and trials each model has in each domain.
-- grain: source, study, study_version, variant, model, domain, structured_output
-- order: source, study, study_version, variant, models.model_no, model, tests.test_no, domain, structured_output
-- reads: forced_choice_answer_rows
-- design: forced_choice
-- note:  what is here, not what was planned: a run in progress has fewer. `least_words` and `most_words`: of the
--        categories. Repetitions add to `n_trials` only.
CREATE OR REPLACE VIEW design_counts AS
WITH by_word AS (
    SELECT source, study, study_version, variant, model, domain, structured_output, block, category, word,
           count(*) AS n_trials
    FROM forced_choice_answer_rows
    GROUP BY source, study, study_version, variant, model, domain, structured_output, block, category, word
), by_category AS (
    SELECT source, study, study_version, variant, model, domain, structured_output, category,
           count(DISTINCT block) AS n_blocks, count(DISTINCT word) AS n_words, sum(n_trials)::BIGINT AS n_trials
    FROM by_word
    GROUP BY source, study, study_version, variant, model, domain, structured_output, category
)
SELECT source, study, study_version, variant, model, domain, structured_output,
       max(n_blocks) AS n_blocks, count(*) AS n_categories, min(n_words) AS least_words, max(n_words) AS most_words,
       sum(n_words)::BIGINT AS n_items, sum(n_trials)::BIGINT AS n_trials
FROM by_category
GROUP BY source, study, study_version, variant, model, domain, structured_output;
