"""Find which trials have their final answer, in 16 bytes per trial, so that a million of them need little memory; and
set wrong runs aside, whose answers count in no table, fit or final trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import polars as pl

from slant.collector.errors import DatabaseEmptyError, UsageError, check_known
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.journal import encode, journal_folder, journal_for, utc_now, write_whole
from slant.collector.keep.journal_loader import load_journals
from slant.collector.keep.stored_attempts import attempts_where
from slant.collector.keep.view_heads import view_names
from slant.collector.system.shipped_files import sql_query

IDS_AT_ONCE = 100_000
ENDS = '"n_not_asked":'
"""Mark the factors of an answer with which a conversation ended early."""
_FINALS = f"trial_id, (game IS NOT NULL AND contains(factors, '{ENDS}')) AS ends_game"
_PLAIN = "^[0-9a-f]{32}$"  # what stable_id makes
_HALVES = {"high": 0, "low": 16}


class Finals:
    """Hold ids of trials with a final attempt. An id is kept as two numbers of 64 bits; one of another form as it is,
    and new ones until they are many. `ended` are those of conversations that ended early: their rest is never asked."""

    def __init__(self, batches: Iterable[pl.Series] = ()) -> None:
        self.ended: set[str] = set()
        self._others: set[str] = set()
        self._n_new = 0
        self._halves: pl.DataFrame | None = None
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
        for batch in batches:
            frame = batch.alias("trial_id").to_frame()
            is_plain = pl.col("trial_id").str.contains(_PLAIN)
            self._others.update(frame.filter(~is_plain)["trial_id"])
            new = _halves(frame.filter(is_plain))
            self._halves = new if self._halves is None else self._halves.vstack(new)
        if self._halves is not None:
            self._halves = self._halves.unique().sort("high", "low")

    def __bool__(self) -> bool:
        return bool(self._others) or (self._halves is not None and self._halves.height > 0)

    def among(self, trial_ids: Sequence[str]) -> bytes:
        """Return flags of these ids, a byte each: 1 if that trial is final. It is quick because it looks up many at
        once."""
        flags = bytearray(trial_id in self._others for trial_id in trial_ids)
        if self._halves is not None:
            wanted = pl.DataFrame({"trial_id": trial_ids}, schema={"trial_id": pl.String}).with_row_index("place")
            plain = wanted.filter(pl.col("trial_id").str.contains(_PLAIN))
            for place in plain["place"].filter(_are_among(_halves(plain), self._halves)):
                flags[place] = 1
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


def _halves(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        pl.col("trial_id").str.slice(start, 16).str.to_integer(base=16, dtype=pl.UInt64).alias(name)
        for name, start in _HALVES.items()
    )


def _are_among(halves: pl.DataFrame, known: pl.DataFrame) -> pl.Series:
    """Return whether each of these halves is among the known ones, which are sorted: a join takes four times as
    long."""
    are_here = pl.repeat(False, halves.height, dtype=pl.Boolean, eager=True)
    first, end = (known["high"].search_sorted(halves["high"], side=side) for side in ("left", "right"))
    longest = (end - first).max()  # of ids with the same first half: practically always 1
    for step in range(longest if isinstance(longest, int) else 0):
        here = known[(first + step).clip(upper_bound=known.height - 1)]
        are_here |= (here["high"] == halves["high"]) & (here["low"] == halves["low"])
    return are_here


def id_batches(trial_ids: Iterable[str]) -> Iterator[pl.Series]:
    """Yield ids as Finals takes them."""
    rest = iter(trial_ids)
    while batch := list(islice(rest, IDS_AT_ONCE)):
        yield pl.Series(batch, dtype=pl.String)


def read_finals(db: Path, study: str) -> Finals:
    """Return the trials of `study` with a final attempt, in the database or in a journal not yet loaded. Trials of runs
    that were set aside are to be asked again."""
    ended: set[str] = set()
    where, values = "is_final AND study = $study AND list_contains($aside, run_id) IS NOT TRUE", {"study": study}

    def batches() -> Iterator[pl.Series]:
        for rows in attempts_where(db, where, {**values, "aside": set_aside_ids(db)}, _FINALS):
            ended.update(rows.filter("ends_game")["trial_id"])
            yield rows["trial_id"]

    return Finals(batches()).end(ended)


_N_TRIALS = sql_query("trials_set_aside")


def set_aside(db: Path, run_id: str, reason: str, *, is_back: bool = False) -> int:
    """Note in the journal that a run counts no more (or, `is_back`, that it counts again); return how many of its
    trials do so.

    Its trials are pending from then on, so that the same command asks them again. Raise UnknownNameError if the
    database lacks the run, UsageError without a reason.
    """
    if not reason.strip():
        raise UsageError(
            "A run is set aside for a reason, which is kept with it.", 'As in: --reason "wrong temperature"'
        )
    load_journals(db)
    with reading(db) as connection:
        runs = dict(connection.execute("SELECT run_id, study FROM runs").fetchall())
        check_known(f"run in {db.name}", run_id, runs)
        [(note_no,)] = connection.execute("SELECT 1 + coalesce(max(note_no), 0) FROM set_aside").fetchall()
    record = {
        "kind": "set_aside", "of_run": run_id, "study": runs[run_id], "reason": " ".join(reason.split()),
        "is_back": is_back, "noted_at": utc_now(), "note_no": note_no,
    }  # fmt: skip
    write_whole(journal_folder(db), f"{journal_for('aside')}.jsonl", encode(record))
    load_journals(db)
    [(n_trials,)] = fetched(db, _N_TRIALS, {"run": run_id, "is_back": is_back})
    return int(n_trials)


def set_aside_ids(db: Path) -> list[str]:
    """Return the runs that no longer count."""
    if not db.exists():
        return []
    with suppress(DatabaseEmptyError), reading(db) as connection:
        if "aside_runs" in view_names(connection):
            return [row[0] for row in connection.execute("SELECT run_id FROM aside_runs ORDER BY 1").fetchall()]
    return []
