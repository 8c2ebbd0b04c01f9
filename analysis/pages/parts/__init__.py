"""Write the parts of a report in groups: each has an anchor, words, tables, and what is still to be made."""
