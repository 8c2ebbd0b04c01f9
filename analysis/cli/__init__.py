"""The command `analyze`, and what it shows."""
