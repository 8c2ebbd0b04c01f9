-- How far a lake has the attempts of each run, study, variant and model: they are numbered in the order of the journal.
SELECT run_id, study, variant, model, max(sequence) AS last_sequence, count(*) AS n_attempts
FROM read_parquet($files, hive_partitioning = false)
GROUP BY ALL
