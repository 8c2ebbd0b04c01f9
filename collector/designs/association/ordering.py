"""Seeded orders of asking."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator


def paired_order(pairs: int, seed: int) -> Iterator[tuple[int, bool]]:
    """The numbers below `pairs` in a seeded random order, each with a seeded coin: is its second member asked first?

    The members of a pair are to be asked one after the other, so that in every prefix of the plan the two arms
    differ by one trial at most. Takes four bytes a pair; the same seed gives the same order on every machine.
    """
    rng = random.Random(seed)
    order = array("I", range(pairs))
    rng.shuffle(order)
    for number in order:
        yield number, rng.random() < 0.5
