-- The view that takes the place of the table `attempts` in a lake: its parts, with what was found out of them after they
-- were written. Columns that a later reading decides are those of it where there was one.
CREATE VIEW attempts AS
SELECT a.* REPLACE (
    coalesce(c.reasoning_tokens_recounted, a.reasoning_tokens_recounted) AS reasoning_tokens_recounted,
    coalesce(c.recount_tokenizer, a.recount_tokenizer) AS recount_tokenizer,
    coalesce(c.is_repeated, a.is_repeated) AS is_repeated,
    coalesce(c.read_again_at, a.read_again_at) AS read_again_at,
    read_again_columns
)
FROM attempt_parts a
LEFT JOIN attempt_changes c USING (attempt_id)
