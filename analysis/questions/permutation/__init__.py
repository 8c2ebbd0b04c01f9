"""Falsify by permutation: a fit is repeated with data whose labels of condition were swapped at random."""
