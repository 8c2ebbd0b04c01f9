"""The commands next to `collect` itself, and how all of them speak."""
