-- The view that takes the place of the table `attempts` in a lake: its parts, with what was found out of them after they were written.
CREATE VIEW attempts AS
SELECT a.* REPLACE (
    coalesce(c.reasoning_tokens_recounted, a.reasoning_tokens_recounted) AS reasoning_tokens_recounted,
    coalesce(c.recount_tokenizer, a.recount_tokenizer) AS recount_tokenizer,
    coalesce(c.is_repeated, a.is_repeated) AS is_repeated,
    coalesce(c.read_again_at, a.read_again_at) AS read_again_at,
    CASE WHEN c.read_again_at IS NULL THEN a.outcome ELSE c.outcome END AS outcome,
    CASE WHEN c.read_again_at IS NULL THEN a.answer ELSE c.answer END AS answer,
    CASE WHEN c.read_again_at IS NULL THEN a.choice ELSE c.choice END AS choice,
    CASE WHEN c.read_again_at IS NULL THEN a.detail ELSE c.detail END AS detail,
    CASE WHEN c.read_again_at IS NULL THEN a.filter_category ELSE c.filter_category END AS filter_category,
    CASE WHEN c.read_again_at IS NULL THEN a.finish_reason ELSE c.finish_reason END AS finish_reason,
    CASE WHEN c.read_again_at IS NULL THEN a.is_final ELSE c.is_final END AS is_final,
    CASE WHEN c.read_again_at IS NULL THEN a.factors ELSE c.factors END AS factors,
    CASE WHEN c.read_again_at IS NULL THEN a.factor_lists ELSE c.factor_lists END AS factor_lists,
    CASE WHEN c.read_again_at IS NULL THEN a.reasoning_text ELSE c.reasoning_text END AS reasoning_text,
    CASE WHEN c.read_again_at IS NULL THEN a.tokens ELSE c.tokens END AS tokens,
    CASE WHEN c.read_again_at IS NULL THEN a.token_source ELSE c.token_source END AS token_source,
    CASE WHEN c.read_again_at IS NULL THEN a.reasoning_tokens ELSE c.reasoning_tokens END AS reasoning_tokens,
    CASE WHEN c.read_again_at IS NULL THEN a.output_tokens ELSE c.output_tokens END AS output_tokens,
    CASE WHEN c.read_again_at IS NULL THEN a.input_tokens ELSE c.input_tokens END AS input_tokens,
    CASE WHEN c.read_again_at IS NULL THEN a.cached_input_tokens ELSE c.cached_input_tokens END AS cached_input_tokens,
    CASE WHEN c.read_again_at IS NULL THEN a.reasoning_kind ELSE c.reasoning_kind END AS reasoning_kind,
    CASE WHEN c.read_again_at IS NULL THEN a.cache_write_tokens ELSE c.cache_write_tokens END AS cache_write_tokens,
    CASE WHEN c.read_again_at IS NULL THEN a.cache_write_1h_tokens ELSE c.cache_write_1h_tokens END AS cache_write_1h_tokens,
    CASE WHEN c.read_again_at IS NULL THEN a.count_conflict ELSE c.count_conflict END AS count_conflict,
    CASE WHEN c.read_again_at IS NULL THEN a.effective_effort ELSE c.effective_effort END AS effective_effort,
    CASE WHEN c.read_again_at IS NULL THEN a.effective_temperature ELSE c.effective_temperature END AS effective_temperature,
    CASE WHEN c.read_again_at IS NULL THEN a.service_tier ELSE c.service_tier END AS service_tier
)
FROM attempt_parts a
LEFT JOIN attempt_changes c USING (attempt_id)
