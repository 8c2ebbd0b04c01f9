-- Conversations with a trial that was ended more than once, of one part of all trials (by a hash of their ids).
INSERT INTO repeated_conversations
SELECT any_value(conversation_id)
FROM attempts
WHERE is_final AND hash(trial_id) % $parts = $part
GROUP BY trial_id
HAVING count(*) > 1
