"""Bayesian models from Python: their tables, their draws, what is said of them."""
