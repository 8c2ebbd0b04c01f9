-- Answers of people as journals have them: what is shared by all who answered so, and a row for each person.
INSERT INTO attempts BY NAME
SELECT s.* EXCLUDE (shared_no) REPLACE (
           s.run_id || '-' || r.sequence AS attempt_id, r.sequence AS sequence,
           s.trial_id || '-' || r.participant || '-' || r.repetition AS trial_id,
           s.conversation_id || '-' || r.participant
               || CASE WHEN s.conversation_id = s.trial_id THEN '-' || r.repetition ELSE '' END AS conversation_id,
           s.game || '-' || r.participant AS game, r.repetition AS repetition, r.position AS position,
           r.participant AS participant, r.response_time_ms AS response_time_ms, r.is_error AS is_error,
           r.phase AS phase
       )
FROM new_answers r
JOIN new_shared s USING (shared_no)
