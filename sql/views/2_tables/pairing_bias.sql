-- pairing_bias: D of each model in each test: how far words go to the groups of the usual association.
-- grain: sorted by source, study, study_version, variant, model, test
-- design: pairing, decision
-- paper: Bai et al. (2025), equation 1 and Figure 2
-- note:  `n_d` answers have a D; the others are counted by what they are: one-sided (all words to one group), refused,
--        cut off, filtered, malformed, rejected. None of them is 0. `t` is of D against 0 over answers, with `n_d` - 1 degrees of
--        freedom; NULL if D does not vary. It takes answers to the same pair of names as independent, which they are
--        not (the study's fits have a term for it). `mean_d_padded` is over the answers that the authors' code would
--        count: every answer that was read, one-sided ones with their share - 1.
CREATE OR REPLACE VIEW pairing_bias AS
SELECT source, study, study_version, variant, model, test,
       count(*) AS n_trials,
       count(*) FILTER (outcome = 'answered') AS n_answered,
       count(*) FILTER (outcome = 'answered' AND reading = 'partial') AS n_partial,
       count(*) FILTER (is_one_sided) AS n_one_sided,
       count(*) FILTER (outcome = 'refused') AS n_refused,
       count(*) FILTER (outcome = 'truncated') AS n_truncated,
       count(*) FILTER (outcome = 'filtered') AS n_filtered,
       count(*) FILTER (outcome = 'malformed') AS n_malformed,
       count(*) FILTER (outcome = 'rejected') AS n_rejected,
       count(d) AS n_d, avg(d) AS mean_d, stddev_samp(d) AS sd_d, avg(d_padded) AS mean_d_padded,
       sd_d / sqrt(n_d) AS se_d, mean_d / nullif(se_d, 0) AS t
FROM pairing_answer_rows
GROUP BY source, study, study_version, variant, model, test;
