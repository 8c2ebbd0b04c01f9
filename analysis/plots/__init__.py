"""Figures: which rows each is drawn from, and R that draws it."""
