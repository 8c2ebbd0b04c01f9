"""Code answers of another study a second time, by a model."""
