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
_MEMORY = "2GB"


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
    with reading(db) as connection, with_waiting(connection, db) if shows_waiting else nullcontext():
        # the settings are those of an opened file: of one that is kept open they stand
        if not connection.execute("SELECT current_setting('lock_configuration')").fetchall()[0][0]:
            for setting in _settings(folder):
                connection.execute(setting)
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


def _settings(folder: Path | None) -> list[str]:
    place = str(folder).replace("'", "''")  # SET takes no parameters
    return [
        *([f"SET allowed_directories = ['{place}']", "SET threads = 1"] if folder else []),  # as in keep/export.py
        "SET enable_progress_bar = false",
        "SET python_enable_replacements = false",  # else SQL could read variables of this program
        "SET allow_community_extensions = false",
        "SET enable_external_access = false",  # autoloading of extensions is off in every connection of slant
        f"SET memory_limit = '{_MEMORY}'",
        "SET lock_configuration = true",
    ]
