-- What was found out of attempts after they were kept: a second count, that another collector's answer counts, and what
-- a later reading of their responses gave.
SELECT attempt_id, reasoning_tokens_recounted, recount_tokenizer, is_repeated, read_again_at, read_again_columns
FROM attempts
WHERE recount_tokenizer IS NOT NULL OR is_repeated OR read_again_at IS NOT NULL
