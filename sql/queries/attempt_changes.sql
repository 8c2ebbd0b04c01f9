-- What was found out of attempts after they were kept: a second count, and that another collector's answer counts.
SELECT attempt_id, reasoning_tokens_recounted, recount_tokenizer, is_repeated
FROM attempts
WHERE recount_tokenizer IS NOT NULL OR is_repeated
