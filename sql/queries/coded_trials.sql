-- The notes of readers (the table reader_notes) with the trials that they are on.
SELECT n.reader, t.source, t.study, t.study_version, t.variant, t.trial_id, t.model, t.test, t.condition, t.item, t."group",
       t.wording, t.game, t.round, t.repetition, t.outcome, t.choice, t.expected, t.answer, t.tokens, t.token_source,
       n.label, n.note, n.noted_at
FROM reader_notes n
JOIN trials t USING (trial_id)
ORDER BY n.reader_no, t.run_id, t.sequence
