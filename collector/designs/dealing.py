"""Words dealt to groups at random: what the variant `null` asks of a study of words."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

W = TypeVar("W")


def deal_words(groups: Mapping[str, Sequence[W]], *seed: object) -> dict[str, tuple[W, ...]]:
    """The same groups with as many words, dealt at random: of each group's own words every group gets its share, to
    within one, so that no association is left on either side. The same seed deals alike on every machine.
    """
    rng = random.Random("\x1f".join(map(str, seed)))
    words = [word for own in groups.values() for word in rng.sample(list(own), len(own))]
    places: list[tuple[float, str]] = []
    for group, own in groups.items():
        start = rng.random()
        places += [((number + start) / len(own), group) for number in range(len(own))]
    dealt: dict[str, list[W]] = {group: [] for group in groups}
    for (_, group), word in zip(sorted(places), words, strict=True):
        dealt[group].append(word)
    return {group: tuple(rng.sample(own, len(own))) for group, own in dealt.items()}
