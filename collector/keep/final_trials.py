"""Find which trials have their final answer, in 16 bytes per trial, so that a million of them need little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import polars as pl

from slant.collector.keep.runs_aside import set_aside_ids
from slant.collector.keep.stored_attempts import attempts_where

IDS_AT_ONCE = 100_000
ENDS = '"n_not_asked":'
"""Mark the factors of an answer with which a conversation ended early."""
_FINALS = f"trial_id, (game IS NOT NULL AND contains(factors, '{ENDS}')) AS ends_game"
_PLAIN = "^[0-9a-f]{32}$"  # what stable_id makes
_HALVES = {"high": (0, pl.UInt64), "low": (16, pl.UInt64)}


class Finals:
    """Hold ids of trials with a final attempt. An id is kept as two numbers of 64 bits; one of another form as it is,
    and new ones until they are many. `ended` are those of conversations that ended early: their rest is never asked."""

    def __init__(self, batches: Iterable[pl.Series] = ()) -> None:
        self.ended: set[str] = set()
        self._others: set[str] = set()
        self._n_new = 0
        self._halves = pl.DataFrame(schema={name: kind for name, (_, kind) in _HALVES.items()})
        self._take_in(batches)

    def end(self, trial_ids: Iterable[str]) -> Finals:
        """Count the whole conversations of these trials as final, too; return itself."""
        self.ended.update(trial_ids)
        return self

    def add(self, trial_ids: Iterable[str]) -> None:
        """Add ids that are final, too."""
        before = len(self._others)
        self._others.update(trial_ids)
        self._n_new += len(self._others) - before
        if self._n_new >= IDS_AT_ONCE:
            new, self._others, self._n_new = self._others, set(), 0
            self._take_in(id_batches(new))

    def _take_in(self, batches: Iterable[pl.Series]) -> None:
        halves = self._halves
        for batch in batches:
            frame = batch.alias("trial_id").to_frame()
            is_plain = pl.col("trial_id").str.contains(_PLAIN)
            self._others.update(frame.filter(~is_plain)["trial_id"])
            halves = halves.vstack(_halves(frame.filter(is_plain)))
        self._halves = halves.unique().sort("high", "low")
        runs = self._halves.group_by("high").len().max()  # ids with the same first half: practically always 1
        self._longest_run: int = runs["len"].item() or 0

    def __bool__(self) -> bool:
        return bool(self._halves.height or self._others)

    def among(self, trial_ids: Sequence[str]) -> bytes:
        """Return one byte for each of these ids: 1 if that trial is final. It is quick because it looks up many at
        once."""
        wanted = pl.DataFrame({"trial_id": trial_ids}, schema={"trial_id": pl.String}).with_row_index("place")
        plain = wanted.filter(pl.col("trial_id").str.contains(_PLAIN))
        flags = bytearray(len(trial_ids))
        for place in plain["place"].filter(self._holds(_halves(plain))):
            flags[place] = 1
        if self._others:
            for place, trial_id in enumerate(trial_ids):
                flags[place] |= trial_id in self._others
        return bytes(flags)

    def among_conversations(self, conversations: Sequence[tuple[str, ...]]) -> bytes:
        """Return the same for the trials of whole conversations; all of a game that ended count as final."""
        flags = bytearray(self.among(list(chain.from_iterable(conversations))))
        start = 0
        for ids in conversations if self.ended else ():
            if not self.ended.isdisjoint(ids):
                flags[start : start + len(ids)] = b"\1" * len(ids)
            start += len(ids)
        return bytes(flags)

    def _holds(self, halves: pl.DataFrame) -> pl.Series:
        """Return whether each of these halves is present. It searches sorted numbers: a join takes four times as
        long."""
        is_here = pl.repeat(False, halves.height, dtype=pl.Boolean, eager=True)
        first = self._halves["high"].search_sorted(halves["high"], side="left")
        for step in range(self._longest_run):
            place = (first + step).clip(upper_bound=self._halves.height - 1)
            here = self._halves[place]
            is_here |= (here["high"] == halves["high"]) & (here["low"] == halves["low"])
        return is_here


def _halves(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        pl.col("trial_id").str.slice(start, 16).str.to_integer(base=16, dtype=kind).alias(name)
        for name, (start, kind) in _HALVES.items()
    )


def id_batches(trial_ids: Iterable[str]) -> Iterator[pl.Series]:
    """Yield ids as Finals takes them."""
    rest = iter(trial_ids)
    while batch := list(islice(rest, IDS_AT_ONCE)):
        yield pl.Series(batch, dtype=pl.String)


def read_finals(db: Path, study: str) -> Finals:
    """Return all trials of `study` with a final attempt, in the database or in a journal not yet loaded. Trials of runs
    that were set aside are to be asked again."""
    ended: set[str] = set()
    where, values = "is_final AND study = $study AND list_contains($aside, run_id) IS NOT TRUE", {"study": study}

    def batches() -> Iterator[pl.Series]:
        for rows in attempts_where(db, where, {**values, "aside": set_aside_ids(db)}, _FINALS):
            ended.update(rows.filter("ends_game")["trial_id"])
            yield rows["trial_id"]

    return Finals(batches()).end(ended)
