"""What `collect` is asked to do: one record, from which shell, Python, R and the row of a run take its settings."""
