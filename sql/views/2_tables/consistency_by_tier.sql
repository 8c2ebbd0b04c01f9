-- consistency_by_tier: compliance and consistency of words from published IATs next to words that are our extension.
-- grain: source, study, study_version, variant, model, domain, tier, block, structured_output
-- reads: forced_choice_answer_rows, models, tests, conditions
-- design: forced_choice
-- note:  the paper's own words are unpublished. `tier`: the word is published for this very IAT (published_same_iat),
--        for another one (published_other_iat), or added by us (our_extension); NULL if the stimuli don't say.
CREATE OR REPLACE VIEW consistency_by_tier AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, domain, tier, block, structured_output,
           count(*) AS n_trials,
           count(*) FILTER (is_valid) AS n_valid,
           100 * avg(is_valid::INTEGER) AS valid_percent,
           avg(is_consistent::INTEGER) AS consistent_rate
    FROM forced_choice_answer_rows
    GROUP BY source, study, study_version, variant, model, domain, tier, block, structured_output
)
SELECT c.*
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests d ON d.study = c.study AND d.study_version = c.study_version AND d.test = c.domain
LEFT JOIN conditions k ON k.study = c.study AND k.study_version = c.study_version AND k.condition = c.block
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, d.test_no, c.domain,
         c.tier, k.condition_no, c.block, c.structured_output;
