"""Check what a database file defines against what slant defines: a file may come from a stranger.

A macro named sum replaces sum in every view, a trigger runs with every insert, and a view named like ours can say
anything. So a file's tables must be ours to the letter, it must hold no macros and no triggers, and views that are not
ours are made again. How this DuckDB prints slant's own is found out once and kept in the user's cache.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb

from slant.collector.errors import DatabaseError, as_typed
from slant.collector.keep.view_heads import make_views, view_texts
from slant.collector.system.files import contents, opened, remove, replace_on_disk
from slant.collector.system.operating_system import flush_onto_disk
from slant.collector.system.scratch import temporary_folder
from slant.collector.system.shipped_files import sql_query

STORAGE_VERSION = "v1.2.0"  # opened by DuckDB 1.2 and everything later
_LISTED = re.compile(r"(?:EXCLUDE|REPLACE|RENAME) \(")
_MAX_NAMED = 3
_MAX_CACHED = 4  # new databases of some 4 MB: one for each of the latest versions of slant and DuckDB


@dataclass(frozen=True)
class Definitions:
    """Hold hashes of DuckDB's printed SQL by name: of the tables after each migration, and of the views."""

    tables: Sequence[Mapping[str, str]]
    views: Mapping[str, str]


@dataclass(frozen=True)
class Contents:
    """Hold what a file defines: hashes of the SQL of tables and views, names of macros and triggers."""

    tables: Mapping[str, str]
    views: Mapping[str, str]
    macros: Sequence[str]
    triggers: Sequence[str]


def contents_of(connection: duckdb.DuckDBPyConnection, catalog: str) -> Contents:
    """Return the definitions in the database `catalog` of this connection."""
    by_kind: dict[str, dict[str, str]] = {"table": {}, "view": {}, "macro": {}, "trigger": {}}
    for kind, name, sql in connection.execute(sql_query("definitions"), {"catalog": catalog}).fetchall():
        by_kind[kind][name] = _hash(_in_one_order(sql or ""))
    return Contents(by_kind["table"], by_kind["view"], sorted(by_kind["macro"]), sorted(by_kind["trigger"]))


def check_definitions(contents: Contents, path: Path, ours: Definitions, last: int | None) -> None:
    """Raise DatabaseError if slant can't have made the file; `last` is the place of the last migration that it says it
    has seen."""
    for kind, names in (("macro", contents.macros), ("trigger", contents.triggers)):
        if names:
            shown = ", ".join(names[:_MAX_NAMED])
            raise DatabaseError(
                f'"{path}" holds the {kind} {shown}, and slant makes none.',
                f"It could change what every table says: a {kind} of the file runs inside slant's own queries.",
                f"Take the answers from its journal instead (collect load --db OTHER.duckdb), or drop the {kind}.",
            )
    if last is None:
        raise _other_table(path, "slant")
    for name, own in ours.tables[last].items():
        if contents.tables.get(name) != own:
            raise _other_table(path, name)
    for name in ours.views:
        if name in contents.tables:
            raise _other_table(path, name)


def has_our_views(contents: Contents, ours: Definitions) -> bool:
    """Return whether all of slant's views exist and say what slant's do. There may be others."""
    return all(contents.views.get(name) == own for name, own in ours.views.items())


def _other_table(path: Path, name: str) -> DatabaseError:
    return DatabaseError(
        f'"{path}" is not as slant makes a database: "{name}" is missing, or differs from slant\'s own.',
        "It was left as it is. If an older slant made it, its journal makes it again: "
        f"collect load --rebuild --db {as_typed(path)}",
    )


def _in_one_order(sql: str) -> str:
    """Return the SQL of a view, with sorted lists where DuckDB's order varies (EXCLUDE, RENAME …)."""
    pieces, place = [], 0
    while match := _LISTED.search(sql, place):
        items, end = _items(sql, match.end())
        pieces += [sql[place : match.end()], ", ".join(sorted(_in_one_order(item) for item in items))]
        place = end
    return "".join([*pieces, sql[place:]])


def _items(sql: str, start: int) -> tuple[list[str], int]:
    """Return the parts between commas up to the closing bracket, and the position of that bracket."""
    items: list[str] = []
    depth, first, quote = 0, start, ""
    for place in range(start, len(sql)):
        char = sql[place]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == ")" and depth == 0:
            return [*items, sql[first:place].strip()], place
        elif char == "," and depth == 0:
            items.append(sql[first:place].strip())
            first = place + 1
        else:
            depth += (char in "([{") - (char in ")]}")
    return [sql[start:]], len(sql)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@functools.lru_cache(maxsize=4)
def our_definitions(migrations: tuple[str, ...], views: tuple[str, ...]) -> Definitions:
    """Return the definitions of these texts in this DuckDB: made once (in a second), then read from the user's
    cache."""
    place = cached_file(migrations, views, ".json")
    with suppress(OSError, ValueError, KeyError, TypeError):
        return Definitions(**json.loads(contents(place)))
    made = _made(migrations, views)
    with suppress(OSError):  # if the home can't be written to, they are made again in the next process
        _keep(place, json.dumps(asdict(made)).encode())
    return made


def _keep(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    replace_on_disk(place, data)


def _made(migrations: Sequence[str], views: Sequence[str]) -> Definitions:
    """Make them in a file, for DuckDB prints a view that was read from one differently than one just made."""
    with temporary_folder("definitions") as folder:
        file = folder / "own.duckdb"
        with duckdb.connect(":memory:") as connection:
            place = str(file).replace("'", "''")
            connection.execute(f"ATTACH '{place}' AS db (STORAGE_VERSION '{STORAGE_VERSION}')")
            connection.execute("USE db")
            tables = []
            for migration in migrations:
                connection.execute(migration)
                tables.append(contents_of(connection, "db").tables)
            own = len(view_texts())
            connection.execute("BEGIN")
            make_views(connection, views[:own])
            connection.execute("COMMIT")
            for view in views[own:]:
                with suppress(duckdb.Error):  # for example another package's, which is reported when it is really made
                    connection.execute(view)
            connection.execute("USE memory")
            connection.execute("DETACH db")
        with duckdb.connect(str(file), read_only=True) as connection:
            return Definitions(tables, contents_of(connection, "own").views)


def cached_file(migrations: tuple[str, ...], views: tuple[str, ...], ending: str) -> Path:
    """Return the path in the user's cache for this DuckDB's database of these texts; it need not exist yet."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # there is no home
        cache = Path(tempfile.gettempdir()) / f"slant-{os.getpid()}"
    return cache / "slant" / "definitions" / f"{_name_of(migrations, views)}{ending}"


@functools.lru_cache(maxsize=4)
def _name_of(migrations: tuple[str, ...], views: tuple[str, ...]) -> str:
    return _hash(json.dumps([duckdb.__version__, STORAGE_VERSION, _LISTED.pattern, migrations, views]))


def keep_in_cache(new: Path, cached: Path) -> None:
    """Keep a copy of a new database there; if the home can't be written to, the next one is made from scratch."""
    with suppress(OSError):
        content = contents(new)
        _keep(cached, content)
        _keep(_checksum_of(cached), _checksum(content))
        for old in sorted(cached.parent.glob("*.duckdb"), key=lambda file: file.stat().st_mtime)[:-_MAX_CACHED]:
            remove(old)
            remove(_checksum_of(old))


def is_copied_from_cache(cached: Path, new: Path) -> bool:
    """Return whether `new` is now a copy, on disk, of the new database in the user's cache: DuckDB takes over a second
    to make the views, each of which it plans with all those below it. Return False if none is there, or its bytes
    differ."""
    try:
        content = contents(cached)
        if _checksum(content) != contents(_checksum_of(cached)):
            return False
        with opened(new, "wb") as file:
            file.write(content)
            flush_onto_disk(file)
    except OSError:
        remove(new)
        return False
    return True


def _checksum_of(cached: Path) -> Path:
    return cached.with_suffix(".blake2b")


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content).hexdigest().encode()
