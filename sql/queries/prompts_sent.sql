-- One request of each prompt that was sent.
SELECT prompt_hash AS sent_hash, min(request) AS request
FROM attempts
WHERE prompt_hash IS NOT NULL AND request IS NOT NULL
GROUP BY prompt_hash
