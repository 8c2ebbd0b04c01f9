-- decision_answer_rows: one conversation with its decision a row, unordered and unlabelled: what tables count over.
-- grain: source, study, study_version, variant, model, conversation
-- design: decision
-- inner: yes
-- paper: Bai et al. (2025), equations 1 and 2
-- note:  `decision_bias` is 1 if group b gets attribute b (or group a attribute a), 0 if it is the other way round,
--        NULL if nothing was decided: undecided, refused, cut off, or the conversation ended before, which `ended_at`
--        and `outcome` say. `is_yes` is the answer to a question about one person; `about` says of which group and
--        attribute. `d` is of the pairing in the same conversation, if there was one. `pairing_tokens` and the like are
--        those of a turn of its own; `tokens` are all. `is_open`: the run was stopped, and the rest is still to be asked.
CREATE OR REPLACE VIEW decision_answer_rows AS
WITH conversations AS (
    SELECT source, study, study_version, variant, model, test, condition, wording, item, repetition, conversation,
           max(participant) AS participant, max(run_id) AS run_id, min(position) AS position,
           max(group_a) AS group_a, max(group_b) AS group_b,
           max(pair) AS pair, max(word_a) AS word_a, max(word_b) AS word_b, max(first_group) AS first_group,
           max(first_attribute) AS first_attribute, max(about) AS about, count(*) AS n_turns,
           arg_max(trial_id, turn) AS trial_id, arg_max(tasks, turn) AS last_tasks, arg_max(answer, turn) AS answer,
           arg_max(outcome, turn) AS last_outcome, arg_max(detail, turn) AS detail, arg_max(choice, turn) AS last_choice,
           max(attribute_b_to) AS attribute_b_to, max(coded_decision) AS coded_decision, max(coded_d) AS coded_d,
           bool_or(ends_with(tasks, 'decision') OR ends_with(tasks, 'question')) AS has_ended,
           max(trial_id) FILTER (has_pairs) AS pairing_id, sum(tokens) AS tokens,
           max(tokens) FILTER (tasks = 'pairing') AS pairing_tokens,
           max(tokens) FILTER (tasks = 'profiles') AS profiles_tokens,
           max(tokens) FILTER (tasks IN ('decision', 'question')) AS decision_tokens,
           max(token_source) AS token_source, sum(latency_s) AS latency_s, sum(cost_usd) AS cost_usd,
           max(served_model) AS served_model, bool_or(served_model_differs) AS served_model_differs
    FROM decision_turns
    GROUP BY source, study, study_version, variant, model, test, condition, wording, item, repetition, conversation
), ended AS (
    SELECT *, split_part(last_tasks, '+', -1) AS ended_at,
           last_outcome = 'answered' AND NOT has_ended AS is_open
    FROM conversations
)
SELECT e.source, e.study, e.study_version, e.variant, e.run_id, e.trial_id, e.conversation, e.model, e.participant, e.test,
       e.condition,
       e.wording, e.item, e.repetition, e.position, e.group_a, e.group_b, e.pair, e.word_a, e.word_b,
       e.word_a || ' / ' || e.word_b AS words, e.first_group, e.first_attribute, e.about, e.answer,
       e.n_turns, e.ended_at, e.is_open, CASE WHEN NOT e.is_open THEN e.last_outcome END AS outcome,
       e.detail, CASE WHEN e.last_outcome IS DISTINCT FROM 'rejected'
            THEN NOT e.is_open AND e.last_outcome = 'refused' END AS is_refusal,
       CASE WHEN NOT e.is_open THEN e.last_choice END AS choice,
       (e.attribute_b_to = 'b')::INTEGER::DOUBLE AS decision_bias,
       CASE WHEN e.ended_at = 'question' AND e.last_choice = 'yes' THEN 1.0::DOUBLE
            WHEN e.ended_at = 'question' AND e.last_choice = 'no' THEN 0.0::DOUBLE END AS is_yes,
       p.d, p.d_padded, p.d_filled, p.is_one_sided, p.reading, e.coded_decision::DOUBLE AS coded_decision, e.coded_d,
       e.tokens::BIGINT AS tokens, e.pairing_tokens, e.profiles_tokens, e.decision_tokens, e.token_source, e.latency_s, e.cost_usd,
       e.served_model, e.served_model_differs
FROM ended e
LEFT JOIN pairing_answer_rows p ON p.trial_id = e.pairing_id;
