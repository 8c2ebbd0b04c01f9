-- block_order: compliance and consistency of a block that is asked first in its domain, and of one asked second.
-- grain: source, study, study_version, variant, model, domain, block, block_position, structured_output
-- reads: forced_choice_answer_rows, models, tests, conditions
-- design: forced_choice
-- note:  the congruent block comes first in one domain and second in the other, the other way round in the next
--        repetition: of one repetition a domain has one order only, and block and order can't be separated in it.
--        `block_position` is NULL for imported answers that don't say it.
CREATE OR REPLACE VIEW block_order AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, domain, block, block_position, structured_output,
           count(*) AS n_trials,
           count(*) FILTER (is_valid) AS n_valid,
           100 * avg(is_valid::INTEGER) AS valid_percent,
           avg(is_consistent::INTEGER) AS consistent_rate,
           avg(p_consistent) AS mean_p_consistent
    FROM forced_choice_answer_rows
    GROUP BY source, study, study_version, variant, model, domain, block, block_position, structured_output
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests d ON d.study = c.study AND d.study_version = c.study_version AND d.test = c.domain
LEFT JOIN conditions k ON k.study = c.study AND k.study_version = c.study_version AND k.condition = c.block
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, d.test_no, c.domain,
         k.condition_no, c.block, c.block_position, c.structured_output;
