-- The tables that keep what R gave: they have a call each row.
SELECT table_name FROM duckdb_columns()
WHERE column_name = 'call_id' AND NOT internal AND database_name NOT IN ('system', 'temp')
  AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE NOT internal)
ORDER BY ALL
