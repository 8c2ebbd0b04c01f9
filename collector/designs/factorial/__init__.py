"""Vignettes, conjoint tasks, ratings and questionnaires: any factors, any kind of answer."""
