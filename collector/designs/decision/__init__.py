"""Words, each given to one of two groups, many in one answer."""
