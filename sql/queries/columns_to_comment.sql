-- The columns of the current database, with what they are of, in their order; `alike`: they hold what views of trials do.
WITH columns_of AS (
    SELECT table_name, column_name, column_index, CASE WHEN data_type IN ('VARCHAR', 'TIMESTAMP') THEN data_type END AS kind
    FROM duckdb_columns()
    WHERE database_name = current_database() AND NOT internal
),
of_trials AS (
    SELECT column_name, list(DISTINCT coalesce(kind, 'NUMBER')) AS kinds
    FROM columns_of
    WHERE table_name IN (SELECT table_name FROM columns_of WHERE column_name = 'trial_id')
    GROUP BY column_name
)
SELECT c.table_name, c.column_name, t.kinds IS NULL OR list_contains(t.kinds, coalesce(c.kind, 'NUMBER')) AS alike
FROM columns_of AS c
LEFT JOIN of_trials AS t USING (column_name)
ORDER BY c.table_name, c.column_index
