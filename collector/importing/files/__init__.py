"""Read files of all kinds as rows: the content says which kind a file is, and what can't be read is named."""
