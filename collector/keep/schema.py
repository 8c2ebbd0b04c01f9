"""Make what is in the DuckDB file: tables by migrations, in order, and views, again when they change.

A migration is never edited once it is released; files of the same number are one. A file older than the first has its
tables made again from the journal.

Refuse a file of very many tables before DuckDB opens it, for DuckDB first reads the whole catalog: with 10^6 tables
that takes some 20 s and 7 GB.

Their number is at the start of the catalog. Another process reads the bytes: a process that opens and closes a file
which it also has open in DuckDB silently loses its lock."""

from __future__ import annotations

import functools
import hashlib
import struct
import subprocess
import sys
from pathlib import Path

import duckdb

from slant.collector.designs import third_party_designs
from slant.collector.errors import DatabaseError, DesignError
from slant.collector.keep import definitions
from slant.collector.keep.database_errors import empty_database, is_damage, older_tables
from slant.collector.keep.view_heads import comment_statements, make_views, view_texts
from slant.collector.records import READ_AGAIN
from slant.collector.system.shipped_files import sql_dir

READ_AGAIN_STORED = (*READ_AGAIN, "factor_lists")
"""List what a later reading decides as the table of attempts has it: factors are there as lists, too."""
MAX_ENTRIES = 10_000  # slant makes some 150 tables and views, and packages of others a few for each design
_MIN_BYTES = 200 * MAX_ENTRIES  # a file that is smaller can't hold as many
_SECTOR = 4096  # three headers of this length come before the first block
_PARTS = 64  # of a block that holds a part of the catalog


def check_catalog_size(path: Path) -> None:
    """Raise DatabaseError if the file holds more tables and views than any that slant made."""
    if not path.is_file() or path.stat().st_size < _MIN_BYTES:
        return
    number = catalog_entries(path)
    if number is not None and number > MAX_ENTRIES:
        raise DatabaseError(
            f'"{path}" holds {number:,} tables and views, so it is not a database of slant\'s.',
            "It was left as it is. Name another file: --db FILE",
        )


def catalog_entries(path: Path) -> int | None:
    """Return the number of tables, views and the like in a DuckDB file; None if it is not written in a known
    format.
    """
    head = _sectors(path, 0, 3)
    if len(head) < 3 * _SECTOR or head[8:12] != b"DUCK":
        return None
    # the newer of the database's two headers holds: its number, where the catalog begins, …, size of a block
    _, pointer, _, _, block_bytes = max(struct.unpack_from("<5Q", head, number * _SECTOR + 8) for number in (1, 2))
    block, part = pointer & (1 << 56) - 1, pointer >> 56
    part_bytes = (block_bytes - 8) // _PARTS // 8 * 8
    at = 3 * _SECTOR + block * block_bytes + 8 + part * part_bytes + 8
    if at > path.stat().st_size:
        return None
    start = _sectors(path, at // _SECTOR, 2)[at % _SECTOR :][:12]
    return _number(start[2:]) if start.startswith(b"d\0") else None  # the field 100: a list, its length first


def _number(data: bytes) -> int:
    """Read seven bits per byte, the lowest first, up to the first byte without its highest bit."""
    number = 0
    for place, byte in enumerate(data):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    return number


def _sectors(path: Path, first: int, count: int) -> bytes:
    words = ["dd", f"if={path.absolute()}", f"bs={_SECTOR}", f"skip={first}", f"count={count}"]
    try:
        return subprocess.run(words, capture_output=True, check=False).stdout
    except OSError:  # the system lacks it
        return b""


def is_empty(contents: definitions.Contents, path: Path) -> bool:
    """Return False if the file is slant's, True if it is empty; DatabaseError if it is another program's."""
    names = contents.tables
    if names and "slant" not in names:
        shown = ", ".join(sorted(names)[:3])
        raise DatabaseError(
            f'"{path}" is another program\'s database (its tables: {shown}).',
            "slant keeps its own file and leaves this one as it is. Name another: --db FILE",
        )
    return not names


def check_file(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Return True if an open file holds what slant defines, False if its views have to be made again.

    Raise DatabaseEmptyError if there is nothing in it, DatabaseError if it is not slant's.
    """
    catalog = connection.execute("SELECT system.main.current_database()").fetchall()[0][0]
    contents = definitions.contents_of(connection, catalog)
    if is_empty(contents, path):
        raise empty_database(path)
    return _check(connection, contents, path)


def _check(connection: duckdb.DuckDBPyConnection, contents: definitions.Contents, path: Path) -> bool:
    """Raise DatabaseError for foreign tables, macros or triggers; return whether the views are."""
    schema, numbers = _schema(connection), list(_migrations())
    if schema > numbers[-1]:
        raise DatabaseError(
            f'"{path}" was made by a newer slant (schema {schema}).',
            "Update slant: in its checkout, git pull and make setup (or pip install . again).",
        )
    if 0 < schema < numbers[0]:
        raise older_tables(path)
    definitions.check_definitions(contents, path, _ours(), numbers.index(schema) if schema in numbers else None)
    return definitions.has_our_views(contents, _ours())


def _schema(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the number of the last migration that the file has seen; 0 if it does not say."""
    try:
        return int(_value(connection, "schema") or 0)
    except (ValueError, duckdb.Error) as error:
        if is_damage(str(error)):  # a foreign file and a damaged one get different errors
            raise
        return 0


def _ours() -> definitions.Definitions:
    return definitions.our_definitions(migration_texts(), all_views())


def cached_new_database() -> Path:
    """Return the path in the user's cache of a new database with current tables and views, from which others are
    copied."""
    return definitions.cached_file(migration_texts(), (*all_views(), _views()[1]), ".duckdb")


def prepare(connection: duckdb.DuckDBPyConnection, path: Path, *, is_checked: bool = False) -> None:
    """Bring the attached database `db` up to date inside its transaction: tables first, then views.

    Raise DatabaseError if the file is not slant's; `is_checked` if it is known to be slant's.
    """
    done, has_views = 0, True
    contents = None if is_checked else definitions.contents_of(connection, "db")
    if contents is None or not is_empty(contents, path):
        has_views = contents is None or _check(connection, contents, path)
        done = _schema(connection)
    for number, text in _migrations().items():
        if number > done:
            connection.execute(text)
    if done < _newest():
        _set_value(connection, "schema", str(_newest()))
    texts, version = _views()
    # a view of * has only the old columns
    is_new = _value(connection, "views") != version or done < _newest() or not has_views
    if is_new:
        make_views(connection, texts)
        _set_value(connection, "views", version)
    for design, views in _third_party_views(tuple(sys.path)).items():
        its_version = _hash(list(views.values()))
        if is_new or _value(connection, f"views of {design}") != its_version:
            for name, text in views.items():
                try:
                    connection.execute(text)
                except duckdb.Error as error:
                    why = str(error).splitlines()[0]
                    raise DesignError(f'The view "{name}" of the design "{design}" can\'t be made.', why) from error
            _set_value(connection, f"views of {design}", its_version)
    if is_new:
        for statement in comment_statements(connection):
            connection.execute(statement)


def migration_texts() -> tuple[str, ...]:
    """Return the SQL that makes all tables, in order: one text a migration."""
    return tuple(_migrations().values())


def all_views() -> tuple[str, ...]:
    """Return the SQL that makes all views, in order, including those of other packages' designs."""
    return _all_views(tuple(sys.path))


@functools.cache
def _all_views(path: tuple[str, ...]) -> tuple[str, ...]:
    return (*_views()[0], *(text for views in _third_party_views(path).values() for text in views.values()))


def is_behind(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return True for a database of an older slant: it lacks tables, or its views are not current."""
    wanted = {f"views of {name}": _hash(list(v.values())) for name, v in _third_party_views(tuple(sys.path)).items()}
    wanted["views"] = _views()[1]
    has_views = all(_value(connection, name) == version for name, version in wanted.items())
    return _schema(connection) < _newest() or not has_views


@functools.cache
def _third_party_views(path: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return other packages' views by design and name; searched once for each `path` of Python."""
    return {design.name: dict(design.analyses.views) for design in third_party_designs() if design.analyses.views}


@functools.cache
def _migrations() -> dict[int, str]:
    """Return migrations by number: files that begin with the same one are one migration. The first makes all tables."""
    texts: dict[int, str] = {}
    for file in sorted((sql_dir() / "migrations").glob("[0-9]*.sql")):
        number = int(file.name.partition("_")[0])
        texts[number] = texts.get(number, "") + file.read_text("utf-8")
    return texts


def _newest() -> int:
    return max(_migrations())


@functools.cache
def _views() -> tuple[list[str], str]:
    """Return the views in the order of making them, and one hash of them and of what their columns mean; read once,
    for each flush asks."""
    texts = list(view_texts())
    return texts, _hash([*texts, *(path.read_text("utf-8") for path in sorted(sql_dir().glob("*.csv")))])


def _hash(texts: list[str]) -> str:
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


def _value(connection: duckdb.DuckDBPyConnection, name: str) -> str | None:
    # fetchall, not fetchone: DuckDB 2 refuses other work on a connection while a result is unfinished
    rows = connection.execute("SELECT value FROM slant WHERE name = ?", [name]).fetchall()
    return rows[0][0] if rows else None


def _set_value(connection: duckdb.DuckDBPyConnection, name: str, value: str) -> None:
    connection.execute("DELETE FROM slant WHERE name = ?", [name])
    connection.execute("INSERT INTO slant VALUES (?, ?)", [name, value])
