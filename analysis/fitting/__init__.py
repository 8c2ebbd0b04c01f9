"""Fits of every engine, and where their results are kept."""
