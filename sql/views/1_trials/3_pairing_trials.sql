-- pairing_trials: one answer of a pairing a row, in a fixed order: what analyses start from.
-- grain: trial_id
-- order: source, study, study_version, variant, model_no, model, test_no, test, position, trial_id
-- design: pairing, decision
-- note:  the tables count over pairing_answer_rows, the same rows unordered and unlabelled; the columns are explained
--        in all_pairing_answers. `item` is the draw of names and order, alike in all wordings of a test.
CREATE OR REPLACE VIEW pairing_trials AS
SELECT p.source, p.study, p.study_version, p.variant, p.run_id, p.trial_id,
       p.model, coalesce(m.label, p.model) AS model_label, m.model_no, p.participant,
       p.test, coalesce(t.label, p.test) AS test_label, t.test_no,
       p.condition, coalesce(c.label, p.condition) AS condition_label, c.condition_no,
       p.wording, p.item, p.repetition, p.position, p.group_a, p.group_b, p.pair, p.first_group,
       p.answer, p.outcome, p.is_refusal, p.reading, p.assigned, p.poles, p.n_words,
       p.n_a_positive, p.n_a_negative, p.n_b_positive, p.n_b_negative, p.n_invented, p.n_repeated, p.n_unread,
       p.is_one_sided, p.d, p.d_padded, p.d_filled,
       p.tokens, p.token_source, p.latency_s, p.cost_usd, p.served_model, p.served_model_differs
FROM pairing_answer_rows p
LEFT JOIN models m ON m.study = p.study AND m.study_version = p.study_version AND m.model = p.model
LEFT JOIN tests t ON t.study = p.study AND t.study_version = p.study_version AND t.test = p.test
LEFT JOIN conditions c ON c.study = p.study AND c.study_version = p.study_version AND c.condition = p.condition;
