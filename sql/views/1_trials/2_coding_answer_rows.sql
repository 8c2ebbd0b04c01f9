-- coding_answer_rows: one coding of one text by a model, or by a person, a row, unordered.
-- grain: trial_id
-- design: coding
-- inner: yes
-- note:  `coder` is the model that codes, or the person by name (as the import has it) or number; `coded_trial_id` the
--        text, by the trial whose answer it is. `first_coding` is what was coded before by rule (NULL: undecided),
--        `codes` what this coder says, `second_coding` the same as one text ("none" without any); NULL if it was refused,
--        cut off or can't be read, as `outcome` says. `attributes` are what is known of the text and was not shown.
CREATE OR REPLACE VIEW coding_answer_rows AS
SELECT t.source, t.study, t.study_version, t.variant, t.run_id, t.trial_id,
       CASE WHEN t.participant IS NULL THEN t.model
            ELSE coalesce(map_extract(p.attributes, 'coder')[1], t.model || ' ' || t.participant) END AS coder,
       t.participant IS NOT NULL OR t.model = 'people' AS is_person,
       t.test, t.condition, t.repetition, t.position, t.item AS coded_trial_id,
       map_extract(t.factor_lists, 'kind')[1][1] AS kind,
       map_extract(t.factor_lists, 'first_coding')[1][1] AS first_coding,
       CASE WHEN t.outcome = 'answered' THEN coalesce(map_extract(t.factor_lists, 'codes')[1], []) END AS codes,
       CASE WHEN t.outcome = 'answered'
            THEN coalesce(nullif(array_to_string(map_extract(t.factor_lists, 'codes')[1], '; '), ''), 'none')
       END AS second_coding,
       map_extract(t.factor_lists, 'order')[1] AS code_order,
       map(coalesce(map_extract(t.factor_lists, 'names')[1], []), coalesce(map_extract(t.factor_lists, 'levels')[1], []))
           AS attributes,
       t.answer, t.outcome, t.detail, t.is_refusal, t.tokens, t.token_source, t.latency_s, t.cost_usd, t.served_model,
       t.served_model_differs
FROM trial_rows t
LEFT JOIN participants p ON p.study = t.study AND p.participant = t.participant
WHERE t.study IN (SELECT study FROM studies WHERE design = 'coding') AND NOT t.is_left_out;
