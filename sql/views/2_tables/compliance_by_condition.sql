-- compliance_by_condition: how many answers of each model are a valid choice, in each test and condition.
-- grain: sorted by source, study, study_version, variant, model, test, condition, structured_output
-- design: forced_choice
-- paper: Table 3
-- note:  valid is exactly one clear choice, whether consistent or not. The interval is Wilson's (95 %), which stays
--        within 0 and 100 and has a width at both ends. Answers that a provider forced into a schema
--        (`structured_output`) are rows of their own: they can hardly be malformed.
--        It takes each answer as one more: if items are asked repeatedly (`collect --repetitions`) it is too narrow.
CREATE OR REPLACE VIEW compliance_by_condition AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition, structured_output,
           count(*) FILTER (is_valid) AS n_valid,
           count(*) AS n_trials
    FROM forced_choice_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition, structured_output
), with_width AS (
    SELECT *, n_trials + 3.841458820694124 AS whole,
           1.959963984540054 * sqrt(n_valid * (n_trials - n_valid) / n_trials + 0.960364705173531) AS half
    FROM counted
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.test, c.condition, c.structured_output, c.n_valid,
       c.n_trials,
       100 * c.n_valid / c.n_trials AS valid_percent,
       100 * greatest(0, (c.n_valid + 1.920729410347062 - c.half) / c.whole) AS conf_low_percent,
       100 * least(1, (c.n_valid + 1.920729410347062 + c.half) / c.whole) AS conf_high_percent
FROM with_width c;
