-- Each kind of prompt of the study $study as it was sent first: by version, variant, model, test, condition, wording and
-- turn; of a game the first round, and one of those that follow.
WITH kinds AS (
    SELECT study_version, variant, model, test, condition, wording, least(round, 2) AS round, turn,
           min(attempt_id) AS attempt_id, count(*) AS n_sent
    FROM attempts
    WHERE study = $study AND request IS NOT NULL
    GROUP BY ALL
)
SELECT k.study_version, k.variant, k.model, k.test, k.condition, k.wording, k.round, k.turn, k.n_sent,
       a.trial_id, a.prompt_hash, a.request
FROM kinds k
JOIN attempts a USING (attempt_id)
ORDER BY k.study_version, k.variant, k.model, k.test, k.condition, k.wording, k.round, k.turn, k.attempt_id
