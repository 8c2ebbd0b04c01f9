-- allocation_exploration: how open each model's choices stay after what it has seen in a class of jobs.
-- grain: source, study, study_version, variant, model
-- order: source, study, study_version, variant, model
-- design: allocation
-- note:  `choice_entropy_bits` is the entropy of the choice given the class, the group chosen last for that class and
--        whether that went well, over all games: log2(number of groups) if nothing seen matters, 0 if it decides.
--        Counted from `n_rounds` rounds it comes out a little too low: the participant `random` shows by how much.
--        `first_entropy_bits` is the same before anything is seen in a class. `stay_after_success` and
--        `stay_after_failure` are shares of the rounds after one. `lock_in`: of the rounds after a class's first
--        success, the share that went to the group that had it; 1 / (number of groups) by chance.
CREATE OR REPLACE VIEW allocation_exploration AS
WITH rounds AS MATERIALIZED (
    SELECT source, study, study_version, variant, model, class, choice, is_success, round,
           lag(choice) OVER past AS last_choice, lag(is_success) OVER past AS last_success,
           first_value(CASE WHEN is_success THEN choice END IGNORE NULLS) OVER before AS first_success
    FROM allocation_round_rows
    WHERE choice IS NOT NULL
    WINDOW past AS (PARTITION BY history, class, source, study_version, variant ORDER BY round),
           before AS (past ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), counted AS (
    SELECT source, study, study_version, variant, model, class, last_choice, last_success, choice, count(*) AS n
    FROM rounds
    GROUP BY ALL
), states AS (
    SELECT source, study, study_version, variant, model, last_choice IS NULL AS is_first, sum(n) AS total,
           sum(n) * log2(sum(n)) - sum(n * log2(n)) AS entropy_sum
    FROM counted
    GROUP BY source, study, study_version, variant, model, class, last_choice, last_success
), entropies AS (
    SELECT source, study, study_version, variant, model,
           sum(entropy_sum) / sum(total) AS choice_entropy_bits,
           sum(entropy_sum) FILTER (is_first) / sum(total) FILTER (is_first) AS first_entropy_bits
    FROM states
    GROUP BY source, study, study_version, variant, model
)
SELECT r.source, r.study, r.study_version, r.variant, r.model, count(*) AS n_rounds,
       min(e.choice_entropy_bits) AS choice_entropy_bits, min(e.first_entropy_bits) AS first_entropy_bits,
       avg((choice = last_choice)::INTEGER) FILTER (last_success) AS stay_after_success,
       avg((choice = last_choice)::INTEGER) FILTER (NOT last_success) AS stay_after_failure,
       avg((choice = first_success)::INTEGER) AS lock_in
FROM rounds r
JOIN entropies e USING (source, study, study_version, variant, model)
GROUP BY r.source, r.study, r.study_version, r.variant, r.model;
