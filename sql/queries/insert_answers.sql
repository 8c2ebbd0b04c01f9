-- Answers as journals have them: what is shared by all who answered so, and a row for each answer with what is its own.
-- People's trials are numbered by person and repetition; an imported one names itself.
INSERT INTO attempts BY NAME
SELECT s.* EXCLUDE (shared_no, shared_trial_id) REPLACE (
           s.run_id || '-' || r.sequence AS attempt_id,
           coalesce(r.trial_id, s.conversation_id || '-' || r.participant
               || CASE WHEN s.conversation_id = s.shared_trial_id THEN '-' || r.repetition ELSE '' END)
               AS conversation_id,
           s.game || '-' || r.participant AS game
       ),
       r.* EXCLUDE (shared_no) REPLACE (
           coalesce(r.trial_id, s.shared_trial_id || '-' || r.participant || '-' || r.repetition) AS trial_id
       )
FROM new_answers r
JOIN new_shared s USING (shared_no)
