"""Calculate what answers cost, before, while and after they are asked for."""
