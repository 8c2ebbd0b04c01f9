"""Answers of another study, coded a second time by a model."""
