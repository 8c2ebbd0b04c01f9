"""Falsification by permutation: a fit made again and again to data whose block labels were swapped at random."""
