-- What the database $catalog defines: tables and views of its main schema with their SQL, macros, triggers. Each function
-- is named with its own schema: a macro of the file could stand for it otherwise.
SELECT 'table', table_name, sql
FROM system.main.duckdb_tables()
WHERE database_name = $catalog AND schema_name = 'main' AND NOT internal
UNION ALL
SELECT 'view', view_name, sql
FROM system.main.duckdb_views()
WHERE database_name = $catalog AND schema_name = 'main' AND NOT internal
UNION ALL
SELECT 'macro', function_name, NULL FROM system.main.duckdb_functions() WHERE database_name = $catalog AND NOT internal
UNION ALL
SELECT 'trigger', trigger_name, NULL FROM system.main.duckdb_triggers() WHERE database_name = $catalog
