"""Open the DuckDB file: make it, check it, fill it from the journals. The collector never holds it: each flush
attaches, inserts in one transaction, detaches, so that readers (one writer *or* many readers) get their turn. Within
one process all access goes through here, one at a time: having the file open twice would lose its lock in silence."""

from __future__ import annotations

import contextlib
import functools
import glob
import os
import random
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import duckdb

from slant.collector.errors import DatabaseError, DatabaseWriteError
from slant.collector.keep import database_errors
from slant.collector.keep.definitions import STORAGE_VERSION, is_copied_from_cache, keep_in_cache
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import has_collector
from slant.collector.keep.lake_files import is_lake, lake_connection
from slant.collector.keep.schema import cached_new_database, check_catalog_size, check_file, is_behind, prepare
from slant.collector.system.files import moved, real_file, remove
from slant.collector.system.operating_system import is_alive, put_in_place

if TYPE_CHECKING:
    import polars as pl

_P = ParamSpec("_P")
_R = TypeVar("_R")
_CONFIG: dict[str, Any] = {
    "autoinstall_known_extensions": False, "autoload_known_extensions": False, "python_enable_replacements": False,
    "arrow_output_version": "1.4",  # texts as Polars keeps them, so that nothing is copied
    "allow_community_extensions": False,
}  # fmt: skip
# A file may come from a stranger: its views can read and write no other file, load nothing, and see no variable of
# Python's; and no SQL can change that.
_CONFINED: dict[str, Any] = {"enable_external_access": False, "lock_configuration": True}
# So that the writer holds the file only briefly: one thread is as quick for a few thousand rows, and a commit goes
# straight into the file, for at DETACH it would have to be moved there from the write-ahead log anyway.
_WRITER: dict[str, Any] = {"threads": 1, "checkpoint_threshold": "1KB"}
# Each commit writes the last group again, in memory: DuckDB's own 122,880 answers take 1.5 GB; small ones read slowly
_ROW_GROUP = 20_480
_access = threading.RLock()
_state: dict[str, Any] = {"engine": None, "is_open": False}
RENEW_PATIENCE_S = 1.0
_kept_open: dict[Path, _KeptOpen] = {}
_checked: dict[Path, tuple[object, ...]] = {}  # files known to be slant's and up to date, as they were when checked
_shown: dict[str, list[str]] = {}  # variables that say which rows the views show (sql/views/1_trials/0_…)
_scratch: set[Path] = set()  # copies that only this process will ever read
_not_renewed: set[Path] = set()  # an older slant's databases that could not be brought up to date: not tried again


@dataclass
class _KeptOpen:
    writes_to: Path | None
    memory_limit: str | None
    connection: duckdb.DuckDBPyConnection | None = None  # opened by the first reader
    n_readers: int = 0


@contextmanager
def reading(
    path: str | Path, patience_s: float = 30.0, writes_to: Path | None = None, memory_limit: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a read-only connection to the database; wait up to `patience_s` while a collector writes.

    It reaches no other file except those in the folder `writes_to` (then with one thread: each further one sorts and
    packs some 400 MB, and is no quicker). `memory_limit`: what DuckDB may use ("2GB"). Views of another slant are made
    again first, if possible.
    Raises DatabaseError if there is no such file, it is not slant's, or it lacks a view and could not be brought up to
    date; DatabaseBusyError if it stays locked, DatabaseDamagedError if its bytes are not those that were written.
    """
    file = real_file(path)
    try:
        with _reading(file, patience_s, writes_to, memory_limit) as connection:
            yield connection
    except duckdb.Error as error:
        if (unreadable := database_errors.unreadable_database(file, error)) is not None:
            raise unreadable from error
        if isinstance(error, duckdb.ConversionException) and "type MAP" in str(error) and is_lake(file):
            raise DatabaseError(f'"{file}" is no lake of slant\'s: {str(error).splitlines()[0]}.') from error
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException) and file in _not_renewed:
            raise database_errors.older_database(file) from error
        raise


def fetched(path: str | Path, query: str, values: Any = None, *, patience_s: float = 30.0) -> list[tuple[Any, ...]]:
    """Return the rows of a query, with these values for its parameters; errors as of `reading`."""
    with reading(path, patience_s) as connection:
        return connection.execute(query, values).fetchall()


def fetched_frame(path: str | Path, query: str, values: Any = None) -> pl.DataFrame:
    """Return the same as a frame."""
    with reading(path) as connection:
        return frame_of(connection.sql(query, params=values))


@contextmanager
def _reading(
    path: Path, patience_s: float, writes_to: Path | None, memory_limit: str | None
) -> Iterator[duckdb.DuckDBPyConnection]:
    shared = _kept_open.get(path)
    if shared is not None and writes_to in (None, shared.writes_to):
        with _access:
            if shared.connection is None:
                with _only_one():
                    shared.connection = _opened_and_checked(path, patience_s, shared.writes_to, shared.memory_limit)
            shared.n_readers += 1
            try:
                with shared.connection.cursor() as connection:  # from the same opening: variables are not shared
                    _choose_rows(connection)
                    yield connection
            finally:
                shared.n_readers -= 1
        return
    let_go(path)  # a separate opening: what may be written is fixed when a file is opened
    with _only_one():
        connection = _opened_and_checked(path, patience_s, writes_to, memory_limit)
        try:
            _choose_rows(connection)
            yield connection
        finally:
            connection.close()


def _opened_and_checked(
    path: Path, patience_s: float, writes_to: Path | None, memory_limit: str | None
) -> duckdb.DuckDBPyConnection:
    """Return the open file; its tables are slant's, and its views current if it could be brought up to date."""
    if path.is_dir():
        return lake_connection(path, _CONFIG)
    if not path.exists():
        raise database_errors.no_database(path)
    database_errors.check_regular(path)
    if path.is_file() and path.stat().st_size == 0:
        raise database_errors.empty_database(path)
    if not _is_checked(path):
        check_catalog_size(path)
    connection = _opened(path, patience_s, writes_to, memory_limit)
    try:
        if _is_checked(path):
            return connection
        has_our_views = check_file(connection, path)
        is_old = is_behind(connection)
        if (is_old or not has_our_views) and path not in _not_renewed:
            connection.close()
            # up to date again; a file that is held, collected into or may not be written stays as it is
            _not_renewed.add(path)
            with contextlib.suppress(DatabaseError, duckdb.Error):
                if not has_collector(path):
                    with _attached(path, RENEW_PATIENCE_S, None):
                        pass  # attaching prepares: tables and views
                    _not_renewed.discard(path)
            connection = _opened(path, patience_s, writes_to, memory_limit)
        if path not in _not_renewed:
            _checked[path] = _fingerprint(path)
        elif not has_our_views and not is_old:
            raise database_errors.foreign_views(path)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_checked(path: Path) -> bool:
    """Return whether this file, unchanged since, was found to be slant's and up to date: checking takes 20 ms."""
    return path in _checked and path.exists() and _checked[path] == _fingerprint(path)


def _fingerprint(path: Path) -> tuple[object, ...]:
    """Return a value that changes with the file, and with the packages that may bring views."""
    about = path.stat()
    return (about.st_ino, about.st_size, about.st_mtime_ns, *sys.path)


def _choose_rows(connection: duckdb.DuckDBPyConnection) -> None:
    for name, values in _shown.items():
        connection.execute(f"SET VARIABLE {name} = ?", [values])


@contextmanager
def kept_open(path: str | Path, writes_to: Path | None = None, memory_limit: str | None = None) -> Iterator[None]:
    """Make all `reading` of this file inside the block share one opening of it, which takes 40 ms. Until the block
    ends, or `let_go`, no other process can write: code that takes long and reads nothing should let go first. `writing`
    does so by itself. `writes_to`, `memory_limit`: as for `reading`."""
    path = real_file(path)
    if path in _kept_open:  # a caller keeps it open
        yield
        return
    _kept_open[path] = _KeptOpen(writes_to, memory_limit)
    try:
        yield
    finally:
        let_go(path)
        del _kept_open[path]


def opens_once(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make all reading of a database in a call of `function`, whose first argument is `db`, share one opening."""

    @functools.wraps(function)
    def with_it_open(*args: _P.args, **named: _P.kwargs) -> _R:
        with kept_open(str(args[0] if args else named["db"])):
            return function(*args, **named)

    return with_it_open


def let_go(path: str | Path | None = None) -> None:
    """Close what `kept_open` has open of this file (None: of all files without a current reader); the next reader opens
    it again."""
    with _access:
        for file, shared in _kept_open.items():
            if (path is not None and file != real_file(path)) or shared.connection is None:
                continue
            if shared.n_readers and path is not None:
                raise RuntimeError(_ALREADY_OPEN)
            if not shared.n_readers:
                shared.connection.close()
                shared.connection = None


@contextmanager
def showing(
    versions: Sequence[str] | None = None, runs: Sequence[str] | None = None, *, other_models: bool = False
) -> Iterator[None]:
    """Make all views inside the block show only these versions of studies, and these runs ("RUN_ID MODEL"); None shows
    all. `other_models`: tables include answers of another model than was requested, each as a separate model.

    Results of only some runs are not kept: they would pass for the results of all."""
    before = dict(_shown)
    given = {"study_versions": versions, "shown_runs": runs, "other_models": ["shown"] if other_models else None}
    _shown.update({name: list(values) for name, values in given.items() if values is not None})
    try:
        yield
    finally:
        _shown.clear()
        _shown.update(before)


def shown_versions() -> list[str] | None:
    """Return the versions that views show; None: all."""
    return _shown.get("study_versions")


def _opened(
    path: Path, patience_s: float, writes_to: Path | None, memory_limit: str | None
) -> duckdb.DuckDBPyConnection:
    is_confined = writes_to is None and "?" not in str(path.absolute())
    config = {**_CONFIG, **(_CONFINED if is_confined else {} if writes_to is None else {"threads": 1})}
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    opened: duckdb.DuckDBPyConnection = _patiently(
        path, patience_s, lambda: duckdb.connect(str(path), read_only=True, config=config)
    )
    if not is_confined:  # a folder must be named before access to all others is closed, and so must be a database
        if writes_to is not None:  # where DuckDB looks for its log elsewhere (keep/database_errors.py)
            opened.execute("SET allowed_directories = ?", [[str(writes_to.resolve())]])
        for name, value in _CONFINED.items():
            opened.execute(f"SET {name} = {str(value).lower()}")
    return opened


@contextmanager
def writing(
    path: str | Path, patience_s: float = 30.0, give_up: threading.Event | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection inside one transaction on the database, which is made, migrated and given views as needed.

    Setting `give_up` from another thread ends the waiting for a file that another process holds."""
    database_errors.check_place(Path(path))
    path = real_file(path)
    if "shown_runs" in _shown and path not in _scratch:
        raise DatabaseWriteError("What is of some runs only (--run, --settings) would pass for the result of all.")
    if "other_models" in _shown and path not in _scratch:
        raise DatabaseWriteError(
            "What is of other models, too (--other-models) would pass for the result without them."
        )
    let_go(path)
    with _only_one():
        if not path.exists() or path.stat().st_size == 0:
            _make(path)
        with _attached(path, patience_s, give_up) as connection:
            yield connection


def scratch_copy(path: Path, folder: Path) -> Path:
    """Return a copy of the database for what can't be written into it: results of some runs, or for a read-only
    file."""
    path = real_file(path)
    let_go(path)
    with _only_one():
        copy = Path(shutil.copy(path, folder))
    copy.chmod(0o600)
    _scratch.add(copy)
    return copy


def _make(path: Path) -> None:
    """Make the file next to its place and move it there, so that a kill leaves a complete database or none."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.new*"):  # of a process that was killed here
        if not is_alive(left.name.removeprefix(f".{path.name}.").partition(".")[0]):
            remove(left)
    part = path.with_name(f".{path.name}.{os.getpid()}.new")
    remove(part)
    try:
        cached = cached_new_database()
        if is_copied_from_cache(cached, part):
            _checked[part] = _fingerprint(part)
        else:
            with _attached(part, 0.0, None):
                pass
            keep_in_cache(part, cached)
        if path.exists():  # an empty file: nothing is lost by replacing it
            moved(part, path)
        else:
            put_in_place(part, path)  # if another process was quicker, its file stays
        _checked[path] = _checked.pop(part)  # only its name has changed
    except OSError as error:
        raise DatabaseWriteError(f'Can\'t make the database "{path}": {error.strerror}.') from error
    finally:
        remove(part)


@contextmanager
def _attached(path: Path, patience_s: float, give_up: threading.Event | None) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = _state["engine"] or duckdb.connect(":memory:", config={**_CONFIG, **_WRITER})
    _state["engine"] = connection
    if not _is_checked(path):
        check_catalog_size(path)
    options = f"ROW_GROUP_SIZE {_ROW_GROUP}"
    if not path.exists():
        options += f", STORAGE_VERSION '{STORAGE_VERSION}'"
    with database_errors.name_without_query(path) as name:
        place = str(name).replace("'", "''")  # ATTACH takes no parameters
        _patiently(path, patience_s, lambda: connection.execute(f"ATTACH '{place}' AS db ({options})"), give_up)
        try:
            connection.execute("USE db")
            connection.execute("BEGIN")
            prepare(connection, path, is_checked=_is_checked(path))
            yield connection
            connection.execute("COMMIT")
            connection.execute("USE memory")
            connection.execute("DETACH db")
        except BaseException as error:
            # a new engine next time: closing this one rolls back and releases the file in any state
            _state["engine"] = None
            connection.close()
            if isinstance(error, duckdb.Error) and database_errors.is_about_the_disk(error):
                raise database_errors.cannot_write(path, error) from error
            if (
                isinstance(error, duckdb.Error)
                and (unreadable := database_errors.unreadable_database(path, error)) is not None
            ):
                raise unreadable from error
            raise
    _checked[path] = _fingerprint(path)


@contextmanager
def _only_one() -> Iterator[None]:
    with _access:
        if _state["is_open"]:
            raise RuntimeError(_ALREADY_OPEN)
        _state["is_open"] = True
        try:
            yield
        finally:
            _state["is_open"] = False


_ALREADY_OPEN = "the database is already open in this thread; close it before opening it again"


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
                raise database_errors.cannot_open(path, text) from error
            if time.monotonic() >= until or (give_up is not None and give_up.is_set()):
                raise database_errors.held_database(path, patience_s, text) from error
        time.sleep(random.uniform(0.02, 0.15))
