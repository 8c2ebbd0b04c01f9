-- The columns of each view of the attached database `db`, in their order.
SELECT views.view_name, list(columns.column_name ORDER BY columns.column_index)
FROM duckdb_columns() AS columns
JOIN duckdb_views() AS views ON views.database_name = columns.database_name AND views.view_name = columns.table_name
WHERE columns.database_name = 'db' AND NOT views.internal
GROUP BY ALL
