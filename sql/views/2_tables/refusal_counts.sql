-- refusal_counts: how often each model refuses in each test, by the paper's rule.
-- grain: source, study_version, variant, model, test
-- reads: rmiat_answers
-- study: rmiat
-- paper: Table S4
-- note:  the rule counts whatever isn't exactly one of the two options; `n_with_choice` of these refusals still name
--        an option as our reader reads them ("Pleasant.").
CREATE OR REPLACE VIEW refusal_counts AS
SELECT source, study_version, variant, model, test,
       count(*) AS n_trials,
       count(*) FILTER (is_refusal) AS n_refusals,
       avg(is_refusal::INTEGER) AS refusal_rate,
       count(*) FILTER (is_refusal AND choice IS NOT NULL) AS n_with_choice
FROM rmiat_answers
GROUP BY source, study_version, variant, model, test
ORDER BY source, study_version, variant, min(model_no), model, min(test_no), test;
