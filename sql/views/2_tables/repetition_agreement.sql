-- repetition_agreement: how often a model gives the same answer when it is asked the same again.
-- grain: sorted by source, study, study_version, variant, model, test, condition, structured_output
-- design: forced_choice
-- note:  of items with two valid answers at least (`collect --repetitions`). `agreement` is the share of pairs of
--        answers to one item that are alike in being consistent or not, averaged over items; which side is A changes
--        with the repetition. Where the answers of a cell don't differ at all it is 1, whatever the model.
CREATE OR REPLACE VIEW repetition_agreement AS
WITH by_item AS (
    SELECT source, study, study_version, variant, model, test, condition, structured_output, item, wording,
           count(is_consistent) AS n,
           count(*) FILTER (is_consistent) AS n_consistent
    FROM forced_choice_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition, structured_output, item, wording
    HAVING count(is_consistent) > 1
)
SELECT source, study, study_version, variant, model, test, condition, structured_output,
       count(*) AS n_items, sum(n)::BIGINT AS n_answers,
       count(*) FILTER (n_consistent IN (0, n)) AS n_always_alike,
       avg((n_consistent * (n_consistent - 1) + (n - n_consistent) * (n - n_consistent - 1)) / (n * (n - 1)))
           AS agreement
FROM by_item
GROUP BY source, study, study_version, variant, model, test, condition, structured_output;
