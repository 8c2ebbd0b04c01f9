-- block_order: compliance and consistency of a block that is asked first in its domain, and of one asked second.
-- grain: source, study_version, variant, model, domain, block, block_position, structured_output
-- reads: forced_choice_answer_rows, models, tests
-- study: interference
-- note:  the congruent block comes first in one domain and second in the other, the other way round in the next
--        repetition: of one repetition a domain has one order only, and block and order can't be told apart in it.
--        `block_position` is NULL for imported answers that don't say it.
CREATE OR REPLACE VIEW block_order AS
WITH counted AS (
    SELECT source, study_version, variant, model, domain, block, block_position, structured_output,
           count(*) AS n_trials,
           count(*) FILTER (is_valid) AS n_valid,
           100 * avg(is_valid::INTEGER) AS valid_percent,
           avg(is_consistent::INTEGER) AS consistent_rate,
           avg(p_consistent) AS mean_p_consistent
    FROM forced_choice_answer_rows
    GROUP BY source, study_version, variant, model, domain, block, block_position, structured_output
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = 'interference' AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests d ON d.study = 'interference' AND d.study_version = c.study_version AND d.test = c.domain
ORDER BY c.source, c.study_version, c.variant, m.model_no, c.model, d.test_no, c.domain,
         c.block, c.block_position, c.structured_output;
