-- decision_bias: how often each model decides with the usual association, in each test.
-- grain: sorted by source, study, study_version, variant, model, test
-- design: decision
-- paper: Bai et al. (2025), Figure 3
-- note:  of `n_conversations`, `n_decided` have a decision; the others are counted by what they are, and none of them is
--        0 or .5: undecided (neither the words nor the people say it), refused, cut off, filtered, malformed, rejected,
--        still open.
--        `n_ended_early` of them ended before they came to the decision. `share_expected` is .5 if a model leans to
--        neither side; `t` is of it against .5 over conversations, NULL if all decisions are alike. `mean_d` is of the
--        pairings in the same conversations, `r_with_d` their correlation with the decisions.
CREATE OR REPLACE VIEW decision_bias AS
SELECT source, study, study_version, variant, model, test,
       count(*) AS n_conversations, count(decision_bias) AS n_decided,
       count(*) FILTER (outcome = 'malformed' AND starts_with(detail, 'undecided')) AS n_undecided,
       count(*) FILTER (outcome = 'refused') AS n_refused,
       count(*) FILTER (outcome = 'truncated') AS n_truncated,
       count(*) FILTER (outcome = 'filtered') AS n_filtered,
       count(*) FILTER (outcome = 'malformed' AND NOT coalesce(starts_with(detail, 'undecided'), false)) AS n_malformed,
       count(*) FILTER (outcome = 'rejected') AS n_rejected,
       count(*) FILTER (is_open) AS n_open,
       count(*) FILTER (NOT is_open AND ended_at NOT IN ('decision', 'question')) AS n_ended_early,
       avg(decision_bias) AS share_expected, stddev_samp(decision_bias) / sqrt(n_decided) AS se,
       (share_expected - 0.5) / nullif(se, 0) AS t, count(d) AS n_d, avg(d) AS mean_d,
       CASE WHEN stddev_samp(d) > 0 AND stddev_samp(decision_bias) > 0
            THEN least(1.0::DOUBLE, corr(d, decision_bias)) END AS r_with_d
FROM decision_answer_rows
WHERE about IS NULL
GROUP BY source, study, study_version, variant, model, test;
