"""Ask the design association: words are sorted under two conditions, and tokens are counted."""
