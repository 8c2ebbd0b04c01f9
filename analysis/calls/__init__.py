"""Call R, in one way for every analysis: what is called (call.py), and what is kept of it (results.py)."""
