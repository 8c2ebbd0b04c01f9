-- block_order: compliance and consistency of a block that is asked first in its domain, and of one asked second.
-- grain: source, study, study_version, variant, model, domain, block, block_position, structured_output
-- order: source, study, study_version, variant, models.model_no, model, tests.test_no, domain,
--        conditions.condition_no, block, block_position, structured_output
-- reads: forced_choice_answer_rows
-- design: forced_choice
-- note:  the congruent block comes first in one domain and second in the other, the other way round in the next
--        repetition: of one repetition a domain has one order only, and block and order can't be separated in it.
--        `block_position` is NULL for imported answers that don't say it.
CREATE OR REPLACE VIEW block_order AS
SELECT source, study, study_version, variant, model, domain, block, block_position, structured_output,
       count(*) AS n_trials,
       count(*) FILTER (is_valid) AS n_valid,
       100 * avg(is_valid::INTEGER) AS valid_percent,
       avg(is_consistent::INTEGER) AS consistent_rate,
       avg(p_consistent) AS mean_p_consistent
FROM forced_choice_answer_rows
GROUP BY source, study, study_version, variant, model, domain, block, block_position, structured_output;
