"""The database for conditions that a person types: read-only, and deaf to everything outside of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import duckdb

from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.view.waiting import with_waiting

LIMIT_S = 5.0
MEMORY = "2GB"


@contextmanager
def guarded(
    db: Path, limit_s: float = LIMIT_S, folder: Path | None = None, *, shows_waiting: bool = True
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that can read this database and nothing else; files it may write in `folder` only, if anywhere.
    `shows_waiting`: with what a collector has not put into the database yet.

    What takes longer than `limit_s` seconds is interrupted. Raises UsageError for that and for whatever DuckDB can't
    make of a condition, DatabaseError where the file can't be opened. The file is held until the block ends, and a
    collector waits meanwhile: keep it short.
    """
    with (
        reading(db, writes_to=folder, memory_limit=MEMORY) as connection,
        with_waiting(connection, db) if shows_waiting else nullcontext(),
    ):
        timer = threading.Timer(limit_s, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield connection
        except duckdb.InterruptException as error:
            raise UsageError(
                f"This took longer than {limit_s:g} s and was stopped.", "Narrow it by a filter, or simplify it."
            ) from error
        except duckdb.Error as error:
            raise UsageError(f"DuckDB can't read this: {str(error).splitlines()[0]}") from error
        finally:
            timer.cancel()
