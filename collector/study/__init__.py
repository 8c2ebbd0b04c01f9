"""A study as data: its records, and the parts of its file, read strictly."""
