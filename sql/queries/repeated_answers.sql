-- Attempts of conversations that several collectors held, other than those of the one that counts: of them who ended the
-- conversation (had all its trials, or saw a game end early), the first by time. A game counts as a whole, from one.
WITH lineages AS (
    SELECT lineage, run_id FROM merged_runs
    UNION
    -- what was asked after the merge went on with what counted then
    SELECT m.lineage, r.run_id
    FROM (SELECT DISTINCT lineage FROM merged_runs) m
    CROSS JOIN (SELECT run_id FROM runs ANTI JOIN merged_runs USING (run_id)) r
    UNION
    -- a journal of another collector that was not merged: each run for itself
    SELECT run_id, run_id FROM runs WHERE NOT EXISTS (FROM merged_runs)
), members AS (
    SELECT a.conversation_id, l.lineage, a.attempt_id, a.trial_id, a.done_at, a.is_final,
           coalesce(a.is_final AND a.game IS NOT NULL AND a.round IS NOT NULL AND a.outcome <> 'answered', false)
               AS ends_game
    FROM attempts a
    ANTI JOIN aside_runs s ON s.run_id = a.run_id
    SEMI JOIN repeated_conversations USING (conversation_id)
    JOIN lineages l ON l.run_id = a.run_id
), held AS (
    SELECT conversation_id, lineage, count(DISTINCT trial_id) FILTER (is_final) AS n_trials,
           bool_or(ends_game) AS has_end, min(done_at) FILTER (is_final) AS first_at
    FROM members
    GROUP BY conversation_id, lineage
), judged AS (
    SELECT *, has_end OR n_trials = max(n_trials) OVER (PARTITION BY conversation_id) AS is_whole
    FROM held
), counting AS (
    SELECT conversation_id, lineage
    FROM judged
    QUALIFY row_number() OVER (PARTITION BY conversation_id ORDER BY is_whole DESC, first_at NULLS LAST, lineage) = 1
)
SELECT DISTINCT attempt_id FROM members
EXCEPT
SELECT attempt_id FROM members JOIN counting USING (conversation_id, lineage)
