-- Three of the trials `chosen` with each outcome, by a hash of their ids: the same ones each time, from all over.
WITH examples AS (
    SELECT outcome, count(*) AS n, unnest(min_by(attempt_id, hash(attempt_id), 3)) AS attempt_id
    FROM chosen
    WHERE outcome IS NOT NULL
    GROUP BY outcome
)
SELECT e.outcome, e.n, c.trial_id, left(c.answer, 300) AS answer, left(c.detail, 200) AS detail, c.choice
FROM examples e
JOIN chosen c USING (attempt_id)
ORDER BY e.outcome, hash(attempt_id)
