-- The view that stands for the table `attempts` in a lake: its parts, with what was found out of them after they were written.
CREATE VIEW attempts AS
SELECT a.* REPLACE (
    coalesce(c.reasoning_tokens_recounted, a.reasoning_tokens_recounted) AS reasoning_tokens_recounted,
    coalesce(c.recount_tokenizer, a.recount_tokenizer) AS recount_tokenizer,
    coalesce(c.is_repeated, a.is_repeated) AS is_repeated
)
FROM attempt_parts a
LEFT JOIN attempt_changes c USING (attempt_id)
