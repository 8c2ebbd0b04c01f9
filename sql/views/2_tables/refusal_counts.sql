-- refusal_counts: how often each model refuses in each test, and how many trials have no answer that is analysed.
-- grain: sorted by source, study, study_version, variant, model, test
-- design: association
-- paper: Table S4
-- note:  a refusal is the outcome `refused`; by the rule exact_label (RM-IAT), whatever isn't exactly one of the two
--        options, and `n_refusals_with_choice` of these still choose one as our reader reads them ("Pleasant.").
--        `n_without_answer` is what tables and fits leave out: refused, filtered, cut off, malformed.
CREATE OR REPLACE VIEW refusal_counts AS
SELECT source, study, study_version, variant, model, test,
       count(*) AS n_trials,
       count(*) FILTER (is_refusal) AS n_refusals,
       avg(is_refusal::INTEGER) AS refusal_rate,
       count(*) FILTER (is_refusal AND choice IS NOT NULL) AS n_refusals_with_choice,
       count(*) FILTER (NOT is_valid) AS n_without_answer
FROM association_answer_rows
GROUP BY source, study, study_version, variant, model, test;
