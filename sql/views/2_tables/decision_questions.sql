-- decision_questions: how often each model says yes of one person, by group and attribute.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- design: decision
-- paper: Bai et al. (2025), SI section L
-- note:  `about` is the group and the attribute that the question is of (aa, ab, ba, bb). `share_yes` is of the answers
--        that say yes or no; `share_yes_padded` is as the authors' code has it: (yes + .0001) / (yes + no + .0002).
CREATE OR REPLACE VIEW decision_questions AS
SELECT source, study, study_version, variant, model, test, condition, max(about) AS about,
       count(*) AS n_conversations, count(is_yes) AS n_answered, count(*) FILTER (outcome <> 'answered') AS n_without_answer,
       count(*) FILTER (is_yes = 1) AS n_yes, n_yes / nullif(n_answered, 0) AS share_yes,
       (n_yes + 0.0001::DOUBLE) / (n_answered + 0.0002::DOUBLE) AS share_yes_padded
FROM decision_answer_rows
WHERE decision_answer_rows.about IS NOT NULL
GROUP BY source, study, study_version, variant, model, test, condition;
