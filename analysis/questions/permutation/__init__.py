"""Falsify by permutation: a fit is repeated with data whose block labels were swapped at random."""
