"""Ask questions of the rows besides a study's fits: checks, permutations, other specifications, games, topics."""
