"""The commands beside `collect` itself, and how all of them speak."""
