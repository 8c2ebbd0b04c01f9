"""The DuckDB file: made, checked, filled from the journals. The collector never holds it: each flush attaches,
inserts in one transaction, detaches, so that readers (DuckDB allows one writer *or* many readers) get their turn.

Within one process all access goes through here, one at a time: a process that has the file open twice would lose
its lock when either closes, without a word.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from collector.errors import DatabaseBusyError, DatabaseEmptyError, DatabaseError, DatabaseWriteError
from collector.files import sql_dir

_CONFIG: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
# How the writer writes, so that it holds the file as shortly as it can: one thread is as quick for a few thousand rows
# and leaves the other cores alone; zstd takes half the time and the room that DuckDB's own choice takes; and a commit
# goes straight into the file, for at DETACH it would have to be moved there from the write-ahead log anyway.
_WRITER: dict[str, Any] = {"threads": 1, "force_compression": "zstd", "checkpoint_threshold": "1KB"}
_STORAGE_VERSION = "v1.2.0"  # opened by DuckDB 1.2 and everything later
_access = threading.RLock()
_state: dict[str, Any] = {"engine": None, "is_open": False}


@contextmanager
def reading(path: str | Path, patience_s: float = 30.0) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the database; waits up to `patience_s` while a collector writes.

    Raises DatabaseError where there is no such file or it is not slant's, DatabaseBusyError where it stays locked.
    """
    path = Path(path)
    if not path.exists():
        journal = path.with_name(path.name + ".journal")
        if journal.is_dir():
            raise DatabaseError(
                f'There is no database "{path}", but its journal is there.', f"collect load --db {path}"
            )
        raise DatabaseError(
            f'There is no database "{path}".',
            f"To make one: collect --study rmiat --simulated --db {path}",
            "Or name another: --db FILE (or the variable SLANT_DB)",
        )
    if path.is_file() and path.stat().st_size == 0:
        raise _empty(path)
    with _only_one():
        connection = _patiently(
            path, patience_s, lambda: duckdb.connect(str(path), read_only=True, config=dict(_CONFIG))
        )
        try:
            if not _check_is_ours(connection, path, connection.execute("SELECT current_database()").fetchall()[0][0]):
                raise _empty(path)
            yield connection
        finally:
            connection.close()


@contextmanager
def writing(
    path: str | Path, patience_s: float = 30.0, give_up: threading.Event | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection inside one transaction on the database, which is made, migrated and given its views as needed.

    Setting `give_up` from another thread ends the waiting for a file that somebody else holds.
    """
    path = Path(path)
    check_place(path)
    with _only_one():
        if not path.exists() or path.stat().st_size == 0:
            _make(path)
        with _attached(path, patience_s, give_up) as connection:
            yield connection


def check_place(path: Path) -> None:
    """DatabaseError where no database can lie: in memory, in a folder that is not there."""
    if str(path) in (":memory:", ".", ""):
        raise DatabaseError(f'"{path}" is no place for a database: answers have to last. Name a file: --db FILE')
    if not path.parent.is_dir():
        raise DatabaseError(
            f'There is no folder "{path.parent}" for the database "{path.name}".', "Make it first: mkdir"
        )


def _make(path: Path) -> None:
    """Make the file beside its place and move it there whole, so that a kill leaves a whole database or none."""
    for left in path.parent.glob(f".{path.name}.*.new*"):  # of a process that was killed in the middle of this
        if not is_alive(left.name.removeprefix(f".{path.name}.").partition(".")[0]):
            left.unlink(missing_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.new")
    part.unlink(missing_ok=True)
    try:
        with _attached(part, 0.0, None):
            pass  # attaching prepares: tables and views
        if path.exists():  # an empty file: nothing is lost by putting ours in its place
            os.replace(part, path)
        else:
            with contextlib.suppress(FileExistsError):  # another process was quicker: its file stays
                os.link(part, path)
    except OSError as error:
        raise DatabaseWriteError(f'Can\'t make the database "{path}": {error.strerror}.') from error
    finally:
        part.unlink(missing_ok=True)


def is_alive(pid: str) -> bool:
    """Whether a process of this number runs; what is no number is none."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        return True  # somebody else's
    return True


@contextmanager
def _attached(path: Path, patience_s: float, give_up: threading.Event | None) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = _state["engine"] or duckdb.connect(":memory:", config={**_CONFIG, **_WRITER})
    _state["engine"] = connection
    place = str(path).replace("'", "''")  # ATTACH takes no parameters
    option = "" if path.exists() else f" (STORAGE_VERSION '{_STORAGE_VERSION}')"
    _patiently(path, patience_s, lambda: connection.execute(f"ATTACH '{place}' AS db{option}"), give_up)
    try:
        connection.execute("USE db")
        connection.execute("BEGIN")
        _prepare(connection, path)
        yield connection
        connection.execute("COMMIT")
        connection.execute("USE memory")
        connection.execute("DETACH db")
    except BaseException as error:
        # a new engine next time: closing this one rolls back and lets go of the file whatever state it is in
        _state["engine"] = None
        connection.close()
        if isinstance(error, duckdb.Error) and _is_about_the_disk(error):
            raise _cannot_write(path, error) from error
        raise


def _is_about_the_disk(error: duckdb.Error) -> bool:
    # a failed COMMIT is a TransactionException, whatever made it fail
    return isinstance(error, duckdb.IOException | duckdb.FatalException) or "No space left" in str(error)


def _empty(path: Path) -> DatabaseEmptyError:
    return DatabaseEmptyError(
        f'The database "{path}" holds nothing yet.', f"To fill it: collect --study rmiat --simulated --db {path}"
    )


def _cannot_write(path: Path, error: duckdb.Error) -> DatabaseWriteError:
    reason = "the disk is full" if "No space left" in str(error) else str(error).splitlines()[0]
    hint = "What the journal beside it holds is safe: make room, then `collect load` brings it in."
    return DatabaseWriteError(f'Can\'t write the database "{path}": {reason}.', hint)


@contextmanager
def _only_one() -> Iterator[None]:
    with _access:
        if _state["is_open"]:
            raise RuntimeError("the database is already open in this thread; close it before opening it again")
        _state["is_open"] = True
        try:
            yield
        finally:
            _state["is_open"] = False


def _patiently(
    path: Path, patience_s: float, open_it: Callable[[], Any], give_up: threading.Event | None = None
) -> Any:
    """Open with retries and jitter while another process holds the file; then say which one does."""
    until = time.monotonic() + patience_s
    while True:
        try:
            return open_it()
        except duckdb.Error as error:
            text = str(error)
            if "Could not set lock" not in text and "Conflicting lock" not in text:
                raise _cannot_open(path, text) from error
            if time.monotonic() >= until or (give_up is not None and give_up.is_set()):
                raise DatabaseBusyError(
                    f'The database "{path}" is held by another process, and stayed so for {patience_s:g} s.',
                    _holder(text),
                    "Close it there (a duckdb shell, R session or notebook keeps it while connected), then try again.",
                ) from error
        time.sleep(random.uniform(0.02, 0.15))


def _holder(text: str) -> str:
    start = text.find("Conflicting lock is held in")
    return text[start:].splitlines()[0].split(". See also")[0] if start >= 0 else text.splitlines()[0]


def _cannot_open(path: Path, text: str) -> DatabaseError:
    first = text.splitlines()[0]
    if "not a valid DuckDB database" in text:
        return DatabaseError(
            f'"{path}" is not a DuckDB database.', "It was left as it is. Name another file: --db FILE"
        )
    if "sqlite" in text.lower():
        return DatabaseError(f'"{path}" is a SQLite database, not a DuckDB one.', "Name another file: --db FILE")
    if "No space left" in text:
        return DatabaseWriteError(f'Can\'t open the database "{path}": the disk is full.', "Make room, then try again.")
    return DatabaseError(f'Can\'t open the database "{path}".', first)


def _check_is_ours(connection: duckdb.DuckDBPyConnection, path: Path, catalog: str) -> bool:
    """True where the file is slant's, False where it is empty; DatabaseError where it is another program's."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND NOT internal", [catalog]
    ).fetchall()
    names = {row[0] for row in rows}
    if names and "slant" not in names:
        shown = ", ".join(sorted(names)[:3])
        raise DatabaseError(
            f'"{path}" is another program\'s database (its tables: {shown}).',
            "slant keeps its own file and leaves this one as it is. Name another: --db FILE",
        )
    return bool(names)


def _prepare(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    done = 0
    if _check_is_ours(connection, path, "db"):
        done = int(_value(connection, "schema") or 0)
    migrations = sorted((sql_dir() / "migrations").glob("[0-9]*.sql"))
    if done > len(migrations):
        raise DatabaseError(f'"{path}" was made by a newer slant (schema {done}).', "Update: pip install -U slant")
    for migration in migrations[done:]:
        connection.execute(migration.read_text("utf-8"))
    if done < len(migrations):
        _set_value(connection, "schema", str(len(migrations)))
    texts, version = _views()
    if _value(connection, "views") != version or done < len(migrations):  # a view of * knows only the old columns
        for text in texts:
            connection.execute(text)
        _set_value(connection, "views", version)


@functools.cache
def _views() -> tuple[list[str], str]:
    """The views in the order of making them, and one short name for them all; read once, for each flush asks."""
    texts = [file.read_text("utf-8") for file in sorted((sql_dir() / "views").glob("*/*.sql"))]
    return texts, hashlib.blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


def _value(connection: duckdb.DuckDBPyConnection, name: str) -> str | None:
    # fetchall, not fetchone: DuckDB 2 refuses other work on a connection while a result is unfinished
    rows = connection.execute("SELECT value FROM slant WHERE name = ?", [name]).fetchall()
    return rows[0][0] if rows else None


def _set_value(connection: duckdb.DuckDBPyConnection, name: str, value: str) -> None:
    connection.execute("DELETE FROM slant WHERE name = ?", [name])
    connection.execute("INSERT INTO slant VALUES (?, ?)", [name, value])
