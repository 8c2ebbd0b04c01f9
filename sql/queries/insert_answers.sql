-- Answers as journals have them: what is shared by all who answered so, and a row for each answer with what is its own.
-- People's trials are numbered by person and repetition; an imported one names itself.
INSERT INTO attempts BY NAME
SELECT s.* EXCLUDE (shared_no) REPLACE (
           s.run_id || '-' || r.sequence AS attempt_id, r.sequence AS sequence,
           coalesce(r.trial_id, s.trial_id || '-' || r.participant || '-' || r.repetition) AS trial_id,
           coalesce(r.trial_id, s.conversation_id || '-' || r.participant
               || CASE WHEN s.conversation_id = s.trial_id THEN '-' || r.repetition ELSE '' END) AS conversation_id,
           s.game || '-' || r.participant AS game, r.repetition AS repetition, r.position AS position,
           r.participant AS participant, r.response_time_ms AS response_time_ms, r.is_error AS is_error,
           r.phase AS phase, r.page_width_px AS page_width_px, r.options_direction AS options_direction,
           coalesce(r.tokens, s.tokens) AS tokens, coalesce(r.token_source, s.token_source) AS token_source,
           coalesce(r.reasoning_tokens, s.reasoning_tokens) AS reasoning_tokens,
           coalesce(r.output_tokens, s.output_tokens) AS output_tokens,
           coalesce(r.reasoning_tokens_recounted, s.reasoning_tokens_recounted) AS reasoning_tokens_recounted,
           coalesce(r.input_tokens, s.input_tokens) AS input_tokens, coalesce(r.cost_usd, s.cost_usd) AS cost_usd,
           coalesce(r.request_id, s.request_id) AS request_id, coalesce(r.response, s.response) AS response
       )
FROM new_answers r
JOIN new_shared s USING (shared_no)
