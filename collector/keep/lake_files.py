"""Read a lake: a folder of Parquet files over which every view works, in Python, in R and in plain DuckDB.

FOLDER/
├── README.md     what this is, and how pandas, pyarrow, Polars, R and DuckDB read it
├── attempts/study-S/variant-V/model-M/part-….parquet   attempts, zstd; never changed, only added to
├── tables/EXPORT/NAME.parquet                          the small tables, all as of the newest export
├── tables/NAME.parquet                                 the same files, by names that no export changes
├── lake.sql      makes all tables and views: duckdb -init lake.sql (in FOLDER)
├── checksums.md5 the Parquet files that belong to it, with their checksums: md5sum -c checksums.md5 (in FOLDER)
└── lake.lock     held (flock) during an export

Study, variant and model are columns of each part, so that each part says what it is. The folders are for people,
and are not named `study=S`: pandas and pyarrow would make a second column of that, with another type, and fail.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import duckdb

from slant.collector.errors import DatabaseError, as_typed
from slant.collector.keep.frames import INSTANT, database_values, quoted_text
from slant.collector.keep.schema import READ_AGAIN_STORED, all_views, migration_texts
from slant.collector.keep.view_heads import make_views, view_texts
from slant.collector.system import files
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

CHECKSUMS, LOCK = "checksums.md5", "lake.lock"
_LINE = re.compile(r"([0-9a-f]{32})  (attempts/[!-~]+\.parquet|tables/[\w.-]+/\w+\.parquet|lake\.lock)", re.ASCII)
_SHOWN = 3
_AT_ONCE = 4
_AGAIN = "To write it again, into an empty folder: collect export --layout lake FOLDER --db DB"


def checksum(path: Path) -> str:
    with files.opened(path) as file:
        return hashlib.file_digest(cast("BufferedReader", file), lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def listed_files(folder: Path) -> dict[str, str]:
    """Return the checksums of a lake's Parquet files, by their names in the folder. Raise DatabaseError if the list is
    missing, damaged or cut off."""
    try:
        text = files.contents(folder / CHECKSUMS).decode("ascii", "replace")
    except FileNotFoundError:
        raise _damaged_list(folder, "missing") from None
    except OSError as error:
        raise DatabaseError(f'Can\'t read the lake "{folder}": {CHECKSUMS}: {error.strerror}.') from error
    lines = [_LINE.fullmatch(line) for line in text.split("\n")[:-1]]
    listed = {line[2]: line[1] for line in lines if line is not None and ".." not in line[2].split("/")}
    if len(listed) < len(lines) or not text.endswith(f"  {LOCK}\n"):
        raise _damaged_list(folder, "damaged")
    del listed[LOCK]
    return listed


def check_files(folder: Path) -> list[str]:
    """Return the files of a lake. Raise DatabaseError if one of them is missing, or differs from what was written."""
    listed = listed_files(folder)
    with ThreadPoolExecutor(_AT_ONCE) as pool:  # hashing leaves the interpreter to others
        found = list(pool.map(lambda name: _found(folder / name), listed))
    rows = [(*row, what) for row, what in zip(listed.items(), found, strict=True)]
    if damaged := [row for row in rows if row[1] != row[2]]:
        raise DatabaseError(
            f'Can\'t read the lake "{folder}": {len(damaged):,} of its {count_text(len(listed), "file")} '
            f"{'is' if len(damaged) == 1 else 'are'} damaged or missing.",
            *(f"{name}: its checksum must be {right}; found: {what}" for name, right, what in damaged[:_SHOWN]),
            f"Put copies of them back. {_AGAIN}",
        )
    return list(listed)


def write_list(folder: Path, listed: Mapping[str, str]) -> None:
    """Write the list, which survives a power cut once this returns."""
    named = [*sorted(listed.items()), (LOCK, checksum(folder / LOCK))]
    files.replace_on_disk(folder / CHECKSUMS, "".join(f"{right}  {name}\n" for name, right in named).encode("ascii"))


def _damaged_list(folder: Path, what: str) -> DatabaseError:
    return DatabaseError(f'Can\'t read the lake "{folder}": its list of files ({CHECKSUMS}) is {what}.', _AGAIN)


def _found(path: Path) -> str:
    try:
        return checksum(path)
    except OSError as error:
        return error.strerror or str(error)


SCRIPT, README = "lake.sql", "README.md"
CHANGES = "attempt_changes"
"""Name a small table: what was found about attempts after their part was written (second counts, other models)."""
_MAX_COLUMNS = 500
_LONGEST_KIND = 40  # characters of a type
_PARTS = "read_parquet({parts}, union_by_name = true, hive_partitioning = false)"
_lakes: dict[Path, duckdb.DuckDBPyConnection] = {}
EXPORT = re.compile(r"[0-9][\w.-]*")  # the name of a folder of small tables
_HEAD = """\
-- All tables and views of slant over the Parquet files of this folder. In it: duckdb -init lake.sql
-- From elsewhere, and for a lake that is not on this machine: SET VARIABLE lake = 'FOLDER'; then .read FOLDER/lake.sql
"""


def is_lake(path: Path) -> bool:
    return path.is_dir() and (path / SCRIPT).exists()


def lake_connection(folder: Path, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return another connection to a lake, which is opened once per process: making all views takes longer than most
    queries."""
    if folder not in _lakes:
        _lakes[folder] = open_lake(folder, config)
    return _lakes[folder].cursor()


def forget_lake(folder: Path) -> None:
    """Forget a lake that has grown: the next reader opens it again."""
    if (connection := _lakes.pop(folder, None)) is not None:
        connection.close()


def open_lake(folder: Path, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database with all tables and views. It can read the files of the lake, and no others."""
    if not is_lake(folder):
        raise DatabaseError(f'"{folder}" is no lake.', f"To make one: collect export --layout lake {as_typed(folder)}")
    place = folder.resolve()
    try:
        files.check_tree(place)
    except OSError as error:
        raise DatabaseError(f'"{folder}" is no lake of slant\'s: in it {error.strerror}.') from error
    try:
        with ExitStack() as stack:
            connection = stack.enter_context(duckdb.connect(":memory:", config=dict(config)))
            connection.execute("SET allowed_directories = ?", [[str(place)]])
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            parts = [f"{place}/{name}" for name in check_files(place) if name.startswith("attempts/")]
            for statement in statements(place, quoted_text(str(place)), f"[{', '.join(map(quoted_text, parts))}]"):
                connection.execute(statement)
            make_views(connection, view_texts())
            for view in all_views()[len(view_texts()) :]:
                connection.execute(view)
            stack.pop_all()  # it stays open
            return connection
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        what = f'Can\'t read the lake "{folder}": another version of slant wrote it, with other tables.'
        raise DatabaseError(what, str(error).splitlines()[0], _AGAIN) from error
    except duckdb.Error as error:
        raise DatabaseError(f'Can\'t read the lake "{folder}".', str(error).splitlines()[0]) from error


def script(folder: Path, comments: Iterable[str]) -> str:
    """Return the same as a script, for users of plain DuckDB, with comments."""
    made = (*statements(folder, "getvariable('lake')", "getvariable('lake_attempts')"), *all_views(), *comments)
    return _HEAD + "".join(f"{text.strip().rstrip(';')};\n\n" for text in (sql_query("checked_lake"), *made))


def statements(folder: Path, place: str, parts: str) -> list[str]:
    """Return the SQL of a lake's tables; `place` and `parts` are its folder and the list of its parts of attempts in
    SQL."""
    made = list(migration_texts())
    listed = listed_files(folder)
    n_changes = 0
    with duckdb.connect(":memory:") as connection:  # one for all files: opening takes longer than reading
        for file in sorted(folder / name for name in listed if name.startswith("tables/")):
            # it becomes a word of SQL, and the lake may be a stranger's; a pipe would be waited for
            if not file.stem.isidentifier() or not file.is_file():
                raise DatabaseError(f'"{folder}" is no lake of slant\'s: {file.name!r} is none of its tables.')
            stored = connection.sql("FROM read_parquet($file)", params={"file": str(file)})
            replaced = database_values(zip(stored.columns, map(str, stored.types), strict=True), _maps())
            rows = f"FROM read_parquet({place} || '/tables/{file.parent.name}/{file.name}')"
            rows += f" SELECT * {replaced}" if replaced else ""  # with times as the database has them
            if file.stem == CHANGES:
                n_changes = connection.execute("SELECT count(*) FROM read_parquet(?)", [str(file)]).fetchall()[0][0]
                made.append(f"CREATE TABLE {CHANGES} AS {rows}")
            else:
                made.append(f'INSERT INTO "{file.stem}" BY NAME {rows}')
    if of_attempts := [str(folder / name) for name in listed if name.startswith("attempts/")]:
        newer = _newer_columns(folder, of_attempts)
        made += ["DROP TABLE attempts", _attempts(parts, newer, has_changes=n_changes > 0)]
    return made


def _attempts(parts: str, newer: dict[str, str], *, has_changes: bool) -> str:
    """Return the view that replaces the table. A join takes time, so that there is none while nothing has changed."""
    parts = _PARTS.format(parts=parts)
    kinds = {name: kind for name, kind in _columns_of_attempts()[1].items() if name not in newer}
    columns = ((name, INSTANT if kind == "TIMESTAMP" else kind) for name, kind in kinds.items())
    replaced = database_values(columns, _maps())
    lacking = "".join(f", NULL::{kind} AS {name}" for name, kind in newer.items())
    parts = f"(FROM {parts} SELECT * {replaced}{lacking})"
    changed = (f"CASE WHEN c.read_again_at IS NULL THEN a.{n} ELSE c.{n} END AS {n}" for n in READ_AGAIN_STORED)
    query = sql_query("changed_lake_attempts" if has_changes else "lake_attempts")
    return query.replace("read_again_columns", ", ".join(changed)).replace("attempt_parts", parts)


def _newer_columns(folder: Path, of_attempts: list[str]) -> dict[str, str]:
    """Return columns of the table, and their types, that no part has because an older slant wrote them all: they are
    NULL. A lake's own script keeps them. Raise DatabaseError for a number of columns with which views would take
    minutes."""
    with duckdb.connect(":memory:") as connection:
        parts = connection.sql(f"FROM {_PARTS.format(parts='$parts')}", params={"parts": of_attempts})
        known, kinds = parts.columns, dict(zip(parts.columns, map(str, parts.types), strict=True))
    if len(known) > _MAX_COLUMNS:
        raise DatabaseError(f'"{folder}" is no lake of slant\'s: its attempts have {len(known):,} columns.')
    first, newest = _columns_of_attempts()
    if lacking := first.keys() - known:
        raise DatabaseError(
            f'Can\'t read the lake "{folder}": its attempts lack {min(lacking)}.',
            "If an older slant wrote it: into an empty folder, collect export --layout lake FOLDER --db DB",
        )
    for name, kind in kinds.items():
        shown = kind if len(kind) <= _LONGEST_KIND else f"{kind[:_LONGEST_KIND]}…"
        is_map_as_text = kind == "VARCHAR" and name in _maps()
        if name in newest and _family(kind) != _family(newest[name]) and not is_map_as_text:
            right = f"{shown}, not {newest[name]}"
            raise DatabaseError(f'"{folder}" is no lake of slant\'s: {name} of its attempts is {right}.')
        if shown != kind:  # structures in structures: DuckDB takes long for each view over them
            raise DatabaseError(f'"{folder}" is no lake of slant\'s: a column of its attempts is {shown}.')
    return {name: kind for name, kind in newest.items() if name not in known}


def _family(kind: str) -> str:
    """Return types that hold the same values: whole numbers of any length (up to 64 bits), times with and without
    zone."""
    if kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"):
        return "BIGINT"
    return "TIMESTAMP" if kind in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS") else kind


def _maps() -> dict[str, str]:
    """Return the columns of attempts that are maps, with their types."""
    return {name: kind for name, kind in _columns_of_attempts()[1].items() if kind.startswith("MAP")}


@functools.cache
def _columns_of_attempts() -> tuple[dict[str, str], dict[str, str]]:
    """Return columns with their types: as the first migration made the table, and as the last one leaves it."""
    states = []
    with duckdb.connect(":memory:") as connection:
        for text in migration_texts():
            connection.execute(text)
            table = connection.table("attempts")
            states.append(dict(zip(table.columns, map(str, table.types), strict=True)))
    return states[0], states[-1]
