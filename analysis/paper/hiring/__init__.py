"""Wu et al., the hiring game: its printed numbers, and how each is had again, or checked without data."""
