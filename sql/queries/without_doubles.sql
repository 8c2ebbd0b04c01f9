-- Deletes each row of attempts whose id is in an earlier row.
DELETE FROM attempts
WHERE rowid IN (
    SELECT rowid FROM attempts WHERE list_contains($runs, run_id)
    QUALIFY row_number() OVER (PARTITION BY attempt_id ORDER BY rowid) > 1
)
