-- Rows of attempts whose id is there already, and trials with several final answers, of the runs just loaded; those
-- of runs that were set aside end no trial.
SELECT
    (SELECT count(*) - count(DISTINCT attempt_id) FROM attempts WHERE list_contains($runs, run_id)) AS n_doubled,
    (
        SELECT count(*) - count(DISTINCT trial_id)
        FROM attempts
        ANTI JOIN aside_runs USING (run_id)
        WHERE is_final AND is_repeated IS NOT TRUE
          AND trial_id IN (SELECT trial_id FROM attempts WHERE is_final AND list_contains($runs, run_id))
    ) AS n_final_again
