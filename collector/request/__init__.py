"""Hold what `collect` is asked to do: one record, from which shell, Python, R and a run's row take its settings."""
