-- How many trials of a study each model was asked live, and how many by batch. A trial belongs to a version that it was
-- asked in, or whose text holds its $contents.
SELECT model, batch_id IS NOT NULL AS is_batch, count(*)
FROM attempts
WHERE is_final AND source = 'collected' AND study = $study AND variant = $variant
    AND (study_version = $study_version OR list_contains($contents, content))
GROUP BY ALL
