"""What is in the DuckDB file: tables that migrations make, in order, and views that are made again when they change."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import duckdb
from slant.collector.errors import DatabaseError
from slant.collector.files import sql_dir


def check_is_ours(connection: duckdb.DuckDBPyConnection, path: Path, catalog: str) -> bool:
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


def prepare(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Bring the attached database `db` up to date inside its transaction: tables first, then views."""
    done = 0
    if check_is_ours(connection, path, "db"):
        done = int(_value(connection, "schema") or 0)
    migrations = _migrations()
    if done > len(migrations):
        raise DatabaseError(
            f'"{path}" was made by a newer slant (schema {done}).',
            "Update slant: in its checkout, git pull and make setup (or pip install . again).",
        )
    for migration in migrations[done:]:
        connection.execute(migration.read_text("utf-8"))
    if done < len(migrations):
        _set_value(connection, "schema", str(len(migrations)))
    texts, version = _views()
    if _value(connection, "views") != version or done < len(migrations):  # a view of * knows only the old columns
        for text in texts:
            connection.execute(text)
        _set_value(connection, "views", version)


def is_behind(connection: duckdb.DuckDBPyConnection) -> bool:
    """True of a database that an older slant made: it lacks tables, or its views are not those of today."""
    schema, newest = int(_value(connection, "schema") or 0), len(_migrations())
    return schema < newest or (schema == newest and _value(connection, "views") != _views()[1])


@functools.cache
def _migrations() -> list[Path]:
    return sorted((sql_dir() / "migrations").glob("[0-9]*.sql"))


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
