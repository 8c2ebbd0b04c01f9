"""Files of all kinds as rows: what a file is is told by its content, and what can't be read is named."""
