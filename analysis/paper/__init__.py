"""A paper's numbers: as printed (published.py), as had again here (numbers.py), and how they stand (comparison.py)."""
