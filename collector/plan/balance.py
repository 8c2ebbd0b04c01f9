"""How many trials of a part of a plan each cell gets: conditions are balanced, tests are spread."""

from __future__ import annotations

from collections import Counter

from slant.collector.errors import UsageError

Cell = tuple[str, str]
"""Test and condition."""


def quotas(cells: set[Cell], tests: list[str], trials: int, option: str = "--pilot") -> Counter[Cell]:
    """How many of `trials` each of these cells gets. UsageError, which names the option, where that is less than one
    in each condition."""
    conditions = {test: sorted(condition for name, condition in cells if name == test) for test in tests}
    present = [test for test in tests if conditions[test]]
    width = max(len(conditions[test]) for test in present)
    if trials < width:
        raise UsageError(f"{option} must be {width} or more: one trial in each condition.")
    blocks = trials // width  # one trial in each condition of a test
    each, more = divmod(blocks, len(present))
    counts = {test: each + (place < more) for place, test in enumerate(present)}
    return Counter({(test, condition): counts[test] for test in present for condition in conditions[test]})
