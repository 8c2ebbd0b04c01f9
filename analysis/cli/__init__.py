"""Run the command `analyze`, and show its results."""
