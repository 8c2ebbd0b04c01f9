-- The attempts of a lake. Their ids, and not how far each run is: a merge may bring a lost answer from between others.
SELECT run_id, attempt_id
FROM read_parquet($files, hive_partitioning = false)
