"""Read the attempts of a database and those in its journals that it has not loaded yet, as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.errors import DatabaseEmptyError, JournalError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_name, journal_paths, journal_size, whole_lines
from slant.collector.keep.journal_lines import Parsed, parse
from slant.collector.keep.journal_loader import CHUNK_BYTES, offsets_in

ROWS_AT_ONCE = 200_000


def attempts_where(db: Path, condition: str, values: Mapping[str, Any], columns: str) -> Iterator[pl.DataFrame]:
    """Yield `columns` (as in SELECT, including sums) of the attempts under an SQL condition with its `values`, in
    parts: those in the database, then those that it has not loaded. Counts and sums must be added up over the parts."""
    query = f"SELECT {columns} FROM attempts WHERE ({condition})"  # noqa: S608 - both are texts of the callers' own
    offsets: Mapping[str, int] = {}
    if db.exists():
        with suppress(DatabaseEmptyError), reading(db) as connection:
            offsets = offsets_in(connection)
            n_rows = connection.execute("SELECT max(rowid) + 1 FROM attempts").fetchall()[0][0] or 0
            for first in range(0, n_rows, ROWS_AT_ONCE):
                part = {**values, "first": first, "end": first + ROWS_AT_ONCE}
                yield frame_of(connection.sql(f"{query} AND rowid >= $first AND rowid < $end", params=part))
    for frame in unloaded_attempts(db, offsets):
        with duckdb.connect(":memory:") as scratch, registered(scratch, "attempts", frame):
            yield frame_of(scratch.sql(query, params=dict(values)))


def unloaded_attempts(db: Path, offsets: Mapping[str, int]) -> Iterator[pl.DataFrame]:
    """Return all columns of the attempts that the journals hold after these offsets (see `offsets_in`)."""
    for lines in unloaded_lines(db, offsets):
        yield lines.attempts


def unloaded_lines(db: Path, offsets: Mapping[str, int]) -> Iterator[Parsed]:
    """Return all that the journals hold after these offsets. Damage is reported when a journal is loaded."""
    for path in journal_paths(journal_folder(db)):
        offset = offsets.get(journal_name(path), 0)
        with suppress(JournalError):
            for _, data in whole_lines(path, offset, CHUNK_BYTES) if journal_size(path) > offset else ():
                yield parse(data)
