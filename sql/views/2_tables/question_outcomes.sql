-- question_outcomes: what came of each question: answered, refused, not read, or never reached.
-- grain: sorted by source, study, study_version, variant, model, question
-- design: factorial
-- note:  a trial that asks several questions counts once for each: it is answered if one of them is, and so outcome_counts
--        says too little. `n` are the questions that were planned and came to an end.
CREATE OR REPLACE VIEW question_outcomes AS
SELECT source, study, study_version, variant, model, question,
       sum(n)::BIGINT AS n, sum(n_answered)::BIGINT AS n_answered, sum(n_refused)::BIGINT AS n_refused,
       sum(n_malformed)::BIGINT AS n_malformed, sum(n_filtered)::BIGINT AS n_filtered,
       sum(n_truncated)::BIGINT AS n_truncated, sum(n_rejected)::BIGINT AS n_rejected,
       sum(n_not_reached)::BIGINT AS n_not_reached, sum(n_answered) / sum(n) AS share_answered
FROM factorial_refusals
WHERE attribute = 'template'  -- each task shows one
GROUP BY source, study, study_version, variant, model, question;
