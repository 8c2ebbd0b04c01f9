"""Ask the design pairing: words are each given to one of two groups, many in one answer."""
