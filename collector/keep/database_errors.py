"""Make errors for a database that is missing, can't be opened or written, or is not slant's.

Give DuckDB a name for a database in a folder with a question mark, so that it can write there.

DuckDB 2.0 takes what follows a question mark for the query of an address, also in a path: its write-ahead log of
`what?/a.duckdb` would be `what.wal?/a.duckdb`, in a folder that does not exist, and it follows symbolic links first. So
the file has a second name while it is written: a hard link in the nearest folder above without a question mark, under
which DuckDB locks the same file. Reading needs no log, and uses the file's own name."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from slant.collector.errors import (
    DatabaseBusyError,
    DatabaseDamagedError,
    DatabaseEmptyError,
    DatabaseError,
    DatabaseWriteError,
    OlderDatabaseError,
    as_typed,
)
from slant.collector.system.files import irregularity, real_file
from slant.collector.system.scratch import scratch_near


@contextmanager
def name_without_query(path: Path) -> Iterator[Path]:
    """Yield the path itself, or a second name of the file if the path has a question mark. A new file gets its own
    name when the block ends. Raise DatabaseWriteError if the file can't have a second name."""
    place = path.absolute()
    if "?" not in str(place):
        yield path
        return
    above = next(folder for folder in place.parents if "?" not in str(folder))
    with contextlib.ExitStack() as stack:
        with _in_words(path, above):
            second = stack.enter_context(scratch_near(above / "database")) / "database"
            if path.exists():
                os.link(path, second)
        yield second
        with _in_words(path, above):
            if not path.exists():
                os.link(second, path)


@contextmanager
def _in_words(path: Path, above: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatabaseWriteError(
            f'Can\'t write the database "{path}": DuckDB cuts its path at the question mark, and a second name for it '
            f'can\'t be made in "{above}" ({error.strerror or error}).',
            "Rename that folder, or name a database elsewhere: --db FILE",
        ) from error


_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)")


def check_on_this_machine(path: Path) -> None:
    """Raise DatabaseError if a path is an address (s3://bucket/lake), which would pass for a folder of that name."""
    if match := _ADDRESS.match(path.as_posix()):
        address = f"{match[1]}://{match[2]}"
        raise DatabaseError(
            f'"{address}" is not on this machine, and slant reads and writes files of this machine only.',
            "A lake can be copied there and back with the tools of that storage: it is a folder of files.",
            "Where DuckDB's own extension httpfs is installed, the duckdb shell reads a lake there: INSTALL httpfs; "
            f"LOAD httpfs; SET VARIABLE lake = '{address}'; then .read lake.sql (from a copy of that file).",
        )


def no_database(path: Path) -> DatabaseError:
    check_on_this_machine(path)
    real = real_file(path)
    if real.with_name(real.name + ".journal").is_dir():
        return DatabaseError(
            f'There is no database "{path}", but its journal is there.', f"collect load --db {as_typed(path)}"
        )
    return DatabaseError(
        f'There is no database "{path}".',
        f"To make one: collect --study rmiat --simulated --db {as_typed(path)} (for other studies: collect studies)",
        "Or name another: --db FILE (or the variable SLANT_DB)",
    )


def empty_database(path: Path) -> DatabaseEmptyError:
    return DatabaseEmptyError(
        f'The database "{path}" holds nothing yet.',
        f"To fill it: collect --study rmiat --simulated --db {as_typed(path)} (for other studies: collect studies)",
    )


def foreign_views(path: Path) -> DatabaseError:
    return DatabaseError(
        f'The views of "{path}" are not those that slant makes, and they can\'t be made again: the file is held or may '
        "not be written.",
        "Let go of it elsewhere, or copy it to where it may be written: slant then makes them again from its tables.",
    )


def older_database(path: Path) -> OlderDatabaseError:
    return OlderDatabaseError(
        f'"{path}" was made by an older slant, lacks what this needs, and could not be brought up to date.',
        "Let go of it elsewhere, and see that it may be written and that the disk is not full.",
    )


def older_tables(path: Path) -> DatabaseError:
    what = f'"{path}" was made by an older slant, whose tables were others.'
    if _has_journals(path):
        return DatabaseError(what, f"Its journal makes it again: collect load --rebuild --db {as_typed(path)}")
    return DatabaseError(what, "No journal is next to it to make it again from: read it with the slant that made it.")


_DAMAGE = (
    "not a valid DuckDB database", "enough bytes from file", "Corrupt database file", "computed checksum",
    "has been invalidated", "Failed to deserialize", "Serialization Error", "INTERNAL Error", "Failed to load metadata",
)  # fmt: skip
"""List what DuckDB says about a file whose bytes are not those that it wrote."""


def is_damage(text: str) -> bool:
    return any(words in text for words in _DAMAGE)


def damaged(path: Path, reason: str) -> DatabaseDamagedError:
    what = f'The database "{path}" is damaged: {reason}'
    if _has_journals(path):
        return DatabaseDamagedError(what, f"Its journal makes it again: collect load --rebuild --db {as_typed(path)}")
    return DatabaseDamagedError(what, "It has no journal next to it to be made again from: use a copy of it, if any.")


def _has_journals(path: Path) -> bool:
    path = real_file(path)
    return any(path.with_name(f"{path.name}.journal").glob("*.jsonl*"))


def cannot_write(path: Path, error: duckdb.Error) -> DatabaseWriteError:
    reason, mend = str(error).splitlines()[0], "see that file and folder may be written"
    if "No space left" in str(error):
        reason, mend = "the disk is full", "make room"
    hint = f"What the journal next to it holds is safe: {mend}, then `collect load --db {as_typed(path)}` brings it in."
    return DatabaseWriteError(f'Can\'t write the database "{path}": {reason}.', hint)


def cannot_open(path: Path, text: str) -> DatabaseError:
    first = text.splitlines()[0]
    if "sqlite" in text.lower():
        return DatabaseError(f'"{path}" is a SQLite database, not a DuckDB one.', "Name another file: --db FILE")
    if _has_journals(path) and is_damage(text):
        return damaged(path, first)
    # DuckDB takes a name that ends in .csv, .json or .parquet for a table in memory.
    if "not a valid DuckDB database" in text or "launch in-memory database" in text:
        return DatabaseError(
            f'"{path}" is not a DuckDB database.', "It was left as it is. Name another file: --db FILE"
        )
    if "No space left" in text:
        return DatabaseWriteError(f'Can\'t open the database "{path}": the disk is full.', "Make room, then try again.")
    return DatabaseError(f'Can\'t open the database "{path}".', first)


def check_place(path: Path) -> None:
    """Raise DatabaseError if no database can be there: in memory, in a missing folder; or in the place of a lake."""
    check_on_this_machine(path)
    if str(path) != "." and path.is_dir():
        raise DatabaseError(f'"{path}" is a folder; what is computed is kept in a database.', "Name a file: --db FILE")
    if str(path) in (":memory:", ".", ""):
        raise DatabaseError(f'"{path}" is no place for a database: answers have to last. Name a file: --db FILE')
    check_regular(path)
    if not path.parent.is_dir():
        raise DatabaseError(
            f'There is no folder "{path.parent}" for the database "{path.name}".', "Make it first: mkdir"
        )


def check_regular(path: Path) -> None:
    """Raise DatabaseError for a pipe or a device, on which it would wait, and for links that lead to each other."""
    real = real_file(path)
    if what := "a link that leads back to itself" if real.is_symlink() else irregularity(real):
        raise DatabaseError(f'"{path}" is no database: it is {what}.', "Name a file: --db FILE")


def held_database(path: Path, patience_s: float, text: str) -> DatabaseBusyError:
    """Return the error after waiting that long; `text` is DuckDB's message, which names the process."""
    start = max(0, text.find("Conflicting lock is held in"))
    return DatabaseBusyError(
        f'The database "{path}" is held by another process, and stayed so for {patience_s:g} s.',
        re.split(r"\. (?:See also|However, you would)", text[start:].splitlines()[0])[0],
        "Close it there (a duckdb shell, R session or notebook keeps it while connected), then try again.",
    )


# a failed COMMIT is a TransactionException, whatever made it fail
_DISK = re.compile("No space left|Failed to commit: (?:Cannot|Could not) ")


_UNREADABLE = re.compile("Could not read from file")


def unreadable_database(path: Path, error: duckdb.Error) -> DatabaseError | None:
    """Return the error for a file that is damaged, or whose bytes its disk does not give; None for any other."""
    text = str(error).splitlines()[0]
    reason = text.rpartition(": ")[2]
    if is_damage(str(error)):
        return damaged(path, text)
    if not _UNREADABLE.search(text):
        return None
    return DatabaseError(
        f'Can\'t read the database "{path}": {reason}.',
        "Its disk, or the network to it, gives an error: copy the file to another disk, and try again.",
    )


def is_about_the_disk(error: duckdb.Error) -> bool:
    if _DISK.search(str(error)):
        return True
    return isinstance(error, duckdb.IOException | duckdb.FatalException) and not is_damage(str(error))
