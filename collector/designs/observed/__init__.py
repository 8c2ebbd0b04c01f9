"""Rows of games that no design plays here: they come in for fits."""
