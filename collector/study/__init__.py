"""Hold a study as data: its records, and the parts of its file, which are read strictly."""
