"""Plan what a run would ask, and which models."""
