"""What a run would ask, and of whom."""
