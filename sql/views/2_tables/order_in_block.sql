-- order_in_block: compliance and consistency along a block, by twenty trials in the order of asking.
-- grain: sorted by source, study, study_version, variant, model, test, condition, from_position, structured_output
-- design: forced_choice
-- note:  `from_position` 21 is the trials 21 to 40 of the block. Each question is asked by itself, so that nothing
--        should change along a block; if something does, the provider or the model did. NULL for imported answers
--        that don't say their place.
CREATE OR REPLACE VIEW order_in_block AS
SELECT source, study, study_version, variant, model, test, condition,
       20 * ((position_in_block - 1) // 20) + 1 AS from_position, structured_output,
       count(*) AS n_trials,
       count(*) FILTER (is_valid) AS n_valid,
       100 * avg(is_valid::INTEGER) AS valid_percent,
       avg(is_consistent::INTEGER) AS consistent_rate
FROM forced_choice_answer_rows
GROUP BY ALL;
