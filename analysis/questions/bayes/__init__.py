"""Draws of Bayesian models, for Python and for ArviZ."""
