"""Sensitivity: the question of a study asked again in the other ways that its file names."""
