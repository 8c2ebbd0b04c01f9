-- block_order: compliance and consistency of a block that is asked first in its test, and of one asked second.
-- grain: sorted by source, study, study_version, variant, model, test, condition, block_position, structured_output
-- design: forced_choice
-- note:  a block is the trials of one condition, asked one after the other: the congruent one comes first in one test
--        and second in the other, the other way round in the next repetition: of one repetition a test has one order
--        only, and block and order can't be separated in it. `block_position` is NULL for imported answers that don't
--        say it.
CREATE OR REPLACE VIEW block_order AS
SELECT source, study, study_version, variant, model, test, condition, block_position, structured_output,
       count(*) AS n_trials,
       count(*) FILTER (is_valid) AS n_valid,
       100 * avg(is_valid::INTEGER) AS valid_percent,
       avg(is_consistent::INTEGER) AS consistent_rate,
       avg(p_consistent) AS mean_p_consistent
FROM forced_choice_answer_rows
GROUP BY source, study, study_version, variant, model, test, condition, block_position, structured_output;
