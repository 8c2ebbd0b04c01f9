-- What was found out of attempts after they were kept: a second count, that another collector's answer counts, and what
-- a later reading of their responses gave.
SELECT attempt_id, reasoning_tokens_recounted, recount_tokenizer, is_repeated, read_again_at,
       outcome, answer, choice, detail, filter_category, finish_reason, is_final, factors, factor_lists, reasoning_text,
       tokens, token_source, reasoning_tokens, output_tokens, input_tokens, cached_input_tokens,
       reasoning_kind, cache_write_tokens, cache_write_1h_tokens, count_conflict, effective_effort, effective_temperature, service_tier
FROM attempts
WHERE recount_tokenizer IS NOT NULL OR is_repeated OR read_again_at IS NOT NULL
