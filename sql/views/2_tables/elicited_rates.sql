-- elicited_rates: how likely each job succeeds, as a model said itself when it was asked for a percentage.
-- grain: source, study, study_version, variant, model, job
-- order: source, study, study_version, variant, model, class, job
-- design: allocation
-- note:  `mean_rate` is from 0 to 1, the mean over conversations (Wu et al., appendix A.3; that it is the mean is ours).
--        A variant that plays with these rates has them in the ids of its trials: more conversations, other games.
CREATE OR REPLACE VIEW elicited_rates AS
SELECT source, study, study_version, variant, model, item AS job, condition AS class,
       avg(try_cast(choice AS DOUBLE)) / 100 AS mean_rate,
       stddev_samp(try_cast(choice AS DOUBLE)) / 100 AS sd_rate,
       count(*) AS n
FROM trials
WHERE test = 'elicitation' AND outcome = 'answered' AND NOT is_left_out
GROUP BY source, study, study_version, variant, model, item, condition;
