"""End a run on precision: its rule, the measurement of widths, and the looks that were made."""
