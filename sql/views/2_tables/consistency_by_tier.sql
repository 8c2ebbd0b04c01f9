-- consistency_by_tier: compliance and consistency of words from published IATs next to words that are our extension.
-- grain: sorted by source, study, study_version, variant, model, test, tier, condition, structured_output
-- design: forced_choice
-- note:  the paper's own words are unpublished. `tier`: the word is published for this IAT (published_same_iat),
--        for another one (published_other_iat), or added by us (our_extension); NULL if the stimuli don't say.
CREATE OR REPLACE VIEW consistency_by_tier AS
SELECT source, study, study_version, variant, model, test, tier, condition, structured_output,
       count(*) AS n_trials,
       count(*) FILTER (is_valid) AS n_valid,
       100 * avg(is_valid::INTEGER) AS valid_percent,
       avg(is_consistent::INTEGER) AS consistent_rate
FROM forced_choice_answer_rows
GROUP BY source, study, study_version, variant, model, test, tier, condition, structured_output;
