-- codable_answers: one answer of a study a row that a model may be asked to code, too (`collect recode`), unordered.
-- grain: trial_id
-- design: decision
-- note:  of conversations that came to a decision: `first_coding` is the group (a or b) that got attribute b by the rule,
--        NULL if that left it undecided; refused and cut-off answers are no rows, they decide nothing. `text` is all
--        that the model said in the conversation, but for a turn that paired words with names. The names and the word are
--        NULL if an import doesn't say them.
CREATE OR REPLACE VIEW codable_answers AS
WITH said AS (
    SELECT source, study, study_version, variant, model, test, condition, wording, item, repetition, conversation,
           string_agg(answer, chr(10) || chr(10) ORDER BY turn) AS text
    FROM decision_turns
    WHERE tasks <> 'pairing'
    GROUP BY source, study, study_version, variant, model, test, condition, wording, item, repetition, conversation
)
SELECT d.source, d.study, d.study_version, d.variant, d.run_id, d.trial_id, d.model, d.test, d.condition, d.wording,
       d.group_a AS option_a, d.group_b AS option_b, d.word_b AS asked,
       CASE d.decision_bias WHEN 1 THEN 'b' WHEN 0 THEN 'a' END AS first_coding, s.text
FROM decision_answer_rows d
JOIN said s USING (source, study, study_version, variant, model, test, condition, wording, item, repetition, conversation)
WHERE NOT d.is_open AND (d.decision_bias IS NOT NULL OR starts_with(d.detail, 'undecided'));
