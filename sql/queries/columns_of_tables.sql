-- The columns of all tables with their types, in the order of each table.
SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY table_oid, column_index
