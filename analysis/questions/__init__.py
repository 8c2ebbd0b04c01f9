"""What is asked of the rows beside the fits of a study: checks, permutations, other specifications, games, topics."""
