-- The answers of the study $study, variant $variant, from $sources to the question $question that the form has read
-- (`first_coding`) or has not; refused, filtered and cut-off ones are none. `prompt` says which of them answer the same.
SELECT t.trial_id AS item, t.answer AS text, r.question AS test, t.model, t.condition, nullif(t."group", '') AS "group",
       t.item AS prompt, r."value" AS first_coding
FROM trials t
JOIN factorial_answer_rows r ON r.trial_id = t.trial_id AND r.question = $question
WHERE t.study = $study AND t.variant = $variant AND list_contains($sources, t.source)
  AND r.outcome IN ('answered', 'malformed') AND trim(t.answer) <> ''
ORDER BY t.trial_id
