-- The columns of the current database, with what they are of, in their order.
SELECT table_name, column_name
FROM duckdb_columns()
WHERE database_name = current_database() AND NOT internal
ORDER BY table_name, column_index
