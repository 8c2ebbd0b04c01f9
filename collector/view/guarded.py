"""Open the database for conditions that a person types: read-only, and without access to anything outside of it.

What a collector has put into its journal and not into the database yet is shown as if it were there: a collector at
full speed rarely holds the database, and a reader wants to see the latest answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import duckdb
import polars as pl

from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import registered
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_name, journal_paths
from slant.collector.keep.journal_loader import offsets_in
from slant.collector.keep.stored_attempts import unloaded_attempts
from slant.collector.system.shipped_files import sql_dir, sql_query

MAX_BYTES = 64_000_000
"""Limit how much of the journals is read for a page, which takes half a second; more waits for the database."""
_LOOK_S, _MOST_WAITS = 0.1, 12
LIMIT_S = 5.0
MEMORY = "2GB"
_VIEWS = ("0_shown_attempts", "1_all_trials", "1_trial_rows", "1_trials")


@contextmanager
def with_waiting(connection: duckdb.DuckDBPyConnection, db: Path) -> Iterator[None]:
    """Add what waits in the journals to `attempts` and `trials` of this connection inside the block."""
    offsets = offsets_in(connection)
    n_bytes = sum(max(0, size - offsets.get(name, 0)) for name, size in journal_sizes(db).items())
    frames = list(unloaded_attempts(db, offsets)) if 0 < n_bytes <= MAX_BYTES else []
    if not any(frame.height for frame in frames):
        yield
        return
    name = connection.execute("SELECT current_database()").fetchall()[0][0].replace('"', '""')
    waiting = sql_query("waiting_attempts").replace("typed_rows", sql_query("typed_rows"))
    with registered(connection, "new_rows", pl.concat(frames)):
        connection.execute(waiting.replace("stored_attempts", f'"{name}".main.attempts'))
    for view in _VIEWS:  # their own copies, which read the attempts of above
        text = (sql_dir() / "views" / "1_trials" / f"{view}.sql").read_text("utf-8")
        connection.execute(text.replace("CREATE OR REPLACE VIEW", "CREATE TEMP VIEW"))
    yield


def journal_sizes(db: Path) -> dict[str, int]:
    return {journal_name(path): path.stat().st_size for path in journal_paths(journal_folder(db))}


@contextmanager
def guarded(
    db: Path, limit_s: float = LIMIT_S, folder: Path | None = None, *, shows_waiting: bool = True
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection that can read this database and nothing else; files it may write in `folder` only, if anywhere.
    `shows_waiting`: with what a collector has not put into the database yet.

    What takes longer than `limit_s` seconds is interrupted. Raise UsageError for that and for a condition that DuckDB
    can't read, DatabaseError if the file can't be opened. The file is held until the block ends, and a collector waits
    meanwhile: keep it short.
    """
    with (
        reading(db, writes_to=folder, memory_limit=MEMORY) as connection,
        with_waiting(connection, db) if shows_waiting else nullcontext(),
    ):
        is_done = threading.Event()
        threading.Thread(target=_interrupt_after, args=(connection, limit_s, is_done), daemon=True).start()
        try:
            yield connection
        except duckdb.InterruptException as error:
            raise UsageError(
                f"This took longer than {limit_s:g} s and was stopped.", "Narrow it by a filter, or simplify it."
            ) from error
        except duckdb.Error as error:
            raise UsageError(f"DuckDB can't read this: {str(error).splitlines()[0]}") from error
        finally:
            is_done.set()


def _interrupt_after(connection: duckdb.DuckDBPyConnection, limit_s: float, is_done: threading.Event) -> None:
    """Interrupt what has run for `limit_s` seconds by the clock and by the processor: on a busy machine a page of
    slant's own would wait for others, and be stopped. Waiting ends in any case after some times as long."""
    began, used = time.monotonic(), time.process_time()
    while not is_done.wait(_LOOK_S):
        took = time.monotonic() - began
        if took > limit_s and (time.process_time() - used > limit_s or took > _MOST_WAITS * limit_s):
            connection.interrupt()
            return
