-- hiring_question_ranks: how often each model names the best, second … group when it is asked after an unequal game.
-- grain: source, study, study_version, variant, model, rank
-- reads: hiring_questions
-- design: allocation
-- note:  Wu et al., tables 4 and 5 (appendix J). `share` is of the `n_questions` in which a group was
--        named; chance is 1 / (number of groups).
CREATE OR REPLACE VIEW hiring_question_ranks AS
SELECT source, study, study_version, variant, model, rank, count(*) AS n,
       (sum(count(*)) OVER (PARTITION BY source, study, study_version, variant, model))::BIGINT AS n_questions,
       count(*) / sum(count(*)) OVER (PARTITION BY source, study, study_version, variant, model) AS share
FROM hiring_questions
WHERE rank IS NOT NULL
GROUP BY source, study, study_version, variant, model, rank
ORDER BY source, study, study_version, variant, model, rank;
