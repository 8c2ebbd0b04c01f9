-- decision_bias_by_condition: how often each model decides with the usual association, in each test and wording.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- design: decision
-- note:  as decision_bias; conditions are the wordings by name. `share_a_first` and `share_b_first`: where the prompt
--        named group a, or b, first; `share_same_order`: where the group and the attribute that usually go together were
--        both named first or both last. Where these differ, the order matters. Mean tokens are of turns of their own.
CREATE OR REPLACE VIEW decision_bias_by_condition AS
SELECT source, study, study_version, variant, model, test, condition,
       count(*) AS n_conversations, count(decision_bias) AS n_decided,
       count(*) FILTER (outcome <> 'answered') AS n_without_answer,
       avg(decision_bias) AS share_expected,
       avg(CASE WHEN first_group = 'a' THEN decision_bias END) AS share_a_first,
       avg(CASE WHEN first_group = 'b' THEN decision_bias END) AS share_b_first,
       avg(CASE WHEN first_group = first_attribute THEN decision_bias END) AS share_same_order,
       avg(CASE WHEN first_group <> first_attribute THEN decision_bias END) AS share_other_order,
       avg(pairing_tokens) AS mean_pairing_tokens, avg(profiles_tokens) AS mean_profiles_tokens,
       avg(decision_tokens) AS mean_decision_tokens
FROM decision_answer_rows
WHERE about IS NULL
GROUP BY source, study, study_version, variant, model, test, condition;
