"""Compare a paper's numbers: printed (published.py), recomputed (numbers.py), and their verdicts (comparison.py)."""
