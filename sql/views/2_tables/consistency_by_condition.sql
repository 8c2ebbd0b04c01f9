-- consistency_by_condition: how many of the valid answers are task-consistent, in each test and condition.
-- grain: sorted by source, study, study_version, variant, model, test, condition, structured_output
-- design: forced_choice
-- note:  consistent is the pair that contains the word's own category. Every valid answer must be codable as consistent
--        or not: `coverage_percent` is 100 if it is, and the answers that can't be coded are in no rate. The
--        interval is Wilson's (95 %), too narrow if items are asked repeatedly. `mean_p_consistent` is of the
--        answers with log-probabilities of both options, valid or not (`n_with_logprobs`; `logprob_kind` says of what
--        the probability is).
CREATE OR REPLACE VIEW consistency_by_condition AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition, structured_output,
           count(*) FILTER (is_valid) AS n_valid,
           count(is_consistent) AS n_coded,
           count(*) FILTER (is_consistent) AS n_consistent,
           avg(p_consistent) AS mean_p_consistent,
           count(p_consistent) AS n_with_logprobs,
           string_agg(DISTINCT logprob_kind, ' + ' ORDER BY logprob_kind) AS logprob_kind
    FROM forced_choice_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition, structured_output
), with_width AS (
    SELECT *, n_coded + 3.841458820694124 AS whole,
           1.959963984540054
               * sqrt(n_consistent * (n_coded - n_consistent) / nullif(n_coded, 0) + 0.960364705173531) AS half
    FROM counted
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.test, c.condition, c.structured_output,
       c.n_consistent, c.n_valid, 100 * c.n_coded / nullif(c.n_valid, 0) AS coverage_percent,
       c.n_consistent / nullif(c.n_coded, 0) AS consistent_rate,
       CASE WHEN c.n_coded > 0 THEN greatest(0, (c.n_consistent + 1.920729410347062 - c.half) / c.whole) END
           AS conf_low,
       CASE WHEN c.n_coded > 0 THEN least(1, (c.n_consistent + 1.920729410347062 + c.half) / c.whole) END
           AS conf_high,
       c.mean_p_consistent, c.n_with_logprobs, c.logprob_kind
FROM with_width c;
