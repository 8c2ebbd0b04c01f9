"""A study proposed for files of answers: what each column is, and which design fits."""
