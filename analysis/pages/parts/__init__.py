"""The parts of a report that stand in groups: each group has an anchor, words, tables, and what is still to be made."""
