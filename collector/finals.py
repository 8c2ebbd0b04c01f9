"""Which trials have their final answer: 16 bytes a trial, so that a million of them is no burden on memory."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from collector.load import final_ids

_PLAIN = re.compile("[0-9a-f]{32}")  # what stable_id makes
_HALVES = {"high": (0, pl.UInt64), "low": (16, pl.UInt64)}


class Finals:
    """Ids of trials with a final attempt: `trial_id in finals`.

    An id is 128 bits, kept as two numbers in two sorted arrays. Ids of another form (of other programs' imports) are
    kept as they are.
    """

    def __init__(self, batches: Iterable[pl.Series] = ()) -> None:
        self._others: set[str] = set()
        halves = pl.concat([_no_halves(), *map(self._halves, batches)]).unique().sort("high", "low")
        self._highs, self._lows = _numbers(halves["high"]), _numbers(halves["low"])

    def __contains__(self, trial_id: str) -> bool:
        if not _PLAIN.fullmatch(trial_id):
            return trial_id in self._others
        high, low = int(trial_id[:16], 16), int(trial_id[16:], 16)
        place = bisect_left(self._highs, high)
        while place < len(self._highs) and self._highs[place] == high:
            if self._lows[place] == low:
                return True
            place += 1
        return False

    def __len__(self) -> int:
        return len(self._highs) + len(self._others)

    def _halves(self, ids: pl.Series) -> pl.DataFrame:
        frame = ids.alias("trial_id").to_frame()
        is_plain = pl.col("trial_id").str.contains(f"^{_PLAIN.pattern}$")
        self._others.update(frame.filter(~is_plain)["trial_id"])
        return frame.filter(is_plain).select(
            pl.col("trial_id").str.slice(start, 16).str.to_integer(base=16, dtype=kind).alias(name)
            for name, (start, kind) in _HALVES.items()
        )


def _no_halves() -> pl.DataFrame:
    return pl.DataFrame(schema={name: kind for name, (_, kind) in _HALVES.items()})


def _numbers(series: pl.Series) -> array[int]:
    numbers = array("Q")
    if len(series):
        numbers.frombytes(memoryview(series.rechunk().to_arrow().buffers()[1])[: 8 * len(series)])
    return numbers


def final_trials(db: Path, study: str, patience_s: float = 30.0) -> Finals:
    """All trials of `study` with a final attempt, in the database or in a journal that it has not loaded."""
    return Finals(final_ids(db, study, patience_s))
