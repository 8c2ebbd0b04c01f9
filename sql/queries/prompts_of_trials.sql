-- The prompt that each trial was asked; of one that was sent again, the last.
SELECT trial_id, max_by(prompt_hash, sequence) AS sent_hash
FROM attempts
GROUP BY trial_id
