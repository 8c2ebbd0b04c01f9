"""Fix a plan and its analyses before the data, as one canonical text, and compare a run with it."""
