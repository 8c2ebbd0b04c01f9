"""What is asked of the rows next to the fits of a study: checks, permutations, other specifications, games, topics."""
