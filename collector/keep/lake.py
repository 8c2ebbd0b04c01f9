"""Write a database as a lake (keep/lake_files.py): what is new goes into new parts, nothing is written twice.

The parts that its list of files names (keep/lake_checksums.py) show how far the lake is: a part is named there once it
is complete, and what a killed export leaves besides is removed by the next one.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

import duckdb

from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseWriteError, UsageError
from slant.collector.keep import lake_files
from slant.collector.keep.anonymous import anonymised
from slant.collector.keep.database import reading
from slant.collector.keep.database_errors import check_on_this_machine
from slant.collector.keep.frames import portable_values
from slant.collector.keep.schema import READ_AGAIN_STORED
from slant.collector.keep.view_heads import comment_statements, trial_views
from slant.collector.markup import escaped_markdown
from slant.collector.system import files
from slant.collector.system.operating_system import onto_disk, sync_folder, try_lock
from slant.collector.system.shipped_files import sql_query
from slant.collector.templates import template_environment
from slant.collector.terminal import count_text

ROW_GROUP = 20_480  # of wide rows; each thread holds one
_ANONYMOUS = "anonymous\n"
_PART_NAME = re.compile(r"part-\d{8}T\d{6}Z-[0-9a-f]{6}\.parquet", re.ASCII)
_PARTITIONS = ("study", "variant", "model")
_PART = "FROM not_exported WHERE study = $study AND variant = $variant AND model = $model"


@dataclass(frozen=True)
class LakeReport:
    """Report what an export added to a lake: attempts and parts; `attempts` are all that it holds now."""

    folder: Path
    new_attempts: int
    new_parts: int
    attempts: int


@checked_arguments()
def export_lake(
    db: str | Path,
    folder: str | Path,
    on_rows: Callable[[int], None] = lambda n_rows: None,
    *,
    anonymous: bool = False,
) -> LakeReport:
    """Write into `folder` what it lacks of `db`: zstd Parquet by study, variant and model, and every other table.

    The same call again adds what is new. `anonymous`: without what reveals who collected it, now and later. Raise
    UsageError if the folder holds something else, or another database's answers (combine the databases first: `merge`);
    DatabaseWriteError if it can't be written.

    >>> export_lake("slant.duckdb", "lake")  # doctest: +SKIP
    """
    folder = files.real_file(folder)
    check_on_this_machine(folder)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / lake_files.LOCK).exists():
        raise UsageError(f'"{folder}" holds something else.', "Name a new folder, or that of a lake.")
    with reading(db):
        pass  # a file that is no database is reported before a folder is made
    try:
        files.made_folder(folder)
        files.check_tree(folder)
        with _locked(folder), reading(db, writes_to=folder) as connection:
            _settle_kind(folder, anonymous=anonymous)
            listed = _listed(folder)
            n_before = _note_exported(connection, folder, db, listed)
            _write_tables(connection, folder, listed, anonymous)
            n_new, n_parts = _write_attempts(connection, folder, listed, on_rows, anonymous)
            _remove_unlisted(folder, listed)
            for name in [name for name in listed if name.startswith("tables/")]:
                files.also_named(folder / name, folder / "tables" / Path(name).name)
            _write_script(connection, folder)
            _write_readme(connection, folder, anonymous)
    except (OSError, duckdb.IOException) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise DatabaseWriteError(
            f'Can\'t write the lake "{folder}": {reason}.', "Once that is mended, type the same command: it resumes."
        ) from error
    lake_files.forget_lake(folder)
    return LakeReport(folder, n_new, n_parts, n_before + n_new)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    file = files.opened_descriptor(folder / lake_files.LOCK, os.O_RDWR | os.O_CREAT)
    try:
        if not try_lock(file):
            raise UsageError(f'Another process is exporting into "{folder}".', "Wait until it ends.")
        yield
    finally:
        os.close(file)


def _settle_kind(folder: Path, *, anonymous: bool) -> None:
    """Check that all parts of a lake are anonymous or none is: its lock file says so from the first export on."""
    kind = files.contents(folder / lake_files.LOCK).decode("utf-8", "replace")
    wanted = _ANONYMOUS if anonymous else ""
    if lake_files.is_lake(folder) and kind != wanted:
        kinds = ("as it is stored", "anonymously")
        raise UsageError(
            f'"{folder}" was written {kinds[not anonymous]}, and can\'t be added to {kinds[anonymous]}.',
            f"Name a new folder, or export {'without' if anonymous else 'with'} --anonymous.",
        )
    if kind != wanted:
        file = files.opened_descriptor(folder / lake_files.LOCK, os.O_WRONLY | os.O_TRUNC)
        with os.fdopen(file, "w", encoding="utf-8") as lock:
            lock.write(wanted)


def _listed(folder: Path) -> dict[str, str]:
    """Return the lake's files and their checksums after comparing them; nothing for a lake to be made."""
    if not (folder / lake_files.CHECKSUMS).exists() and not any(folder.glob("attempts/**/*.parquet")):
        lake_files.write_list(folder, {})
    lake_files.check_files(folder)
    listed = lake_files.listed_files(folder)
    _remove_unlisted(folder, listed)
    return listed


def _remove_unlisted(folder: Path, listed: Mapping[str, str]) -> None:
    """Remove what has a name of this module's and is not in the list: older tables, and what a killed export left."""
    files.remove_left_parts(folder)
    for path in (folder / "attempts", *folder.glob("attempts/**/*")):
        if path.is_dir():
            files.remove_left_parts(path)
        elif _PART_NAME.fullmatch(path.name) and path.relative_to(folder).as_posix() not in listed:
            files.remove(path)
    kept = {name.split("/")[1] for name in listed if name.startswith("tables/")}
    for path in folder.glob("tables/*"):
        if lake_files.EXPORT.fullmatch(path.name) and path.name not in kept:
            files.remove_folder(path)


def _note_exported(
    connection: duckdb.DuckDBPyConnection, folder: Path, db: str | Path, listed: Mapping[str, str]
) -> int:
    """Note in `exported` which attempts the lake has; return how many. Raise UsageError if some are another
    database's."""
    parts = [str(folder / name) for name in listed if name.startswith("attempts/")]
    if parts:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE exported AS {sql_query('exported_so_far')}", {"files": parts})
    else:
        connection.execute("CREATE OR REPLACE TEMP TABLE exported (run_id TEXT, attempt_id TEXT)")
    unknown = connection.execute(
        "SELECT DISTINCT run_id FROM exported WHERE run_id NOT IN (SELECT run_id FROM runs)"
    ).fetchall()
    if unknown:
        n_runs = count_text(len(unknown), "run")
        raise UsageError(
            f'"{folder}" holds answers of {n_runs} that {db} lacks, {unknown[0][0]} among them.',
            "A lake is of one database. Bring them together first: collect merge",
        )
    return int(connection.execute("SELECT count(*) FROM exported").fetchall()[0][0])


def _write_tables(connection: duckdb.DuckDBPyConnection, folder: Path, listed: dict[str, str], anonymous: bool) -> None:
    part = files.made_folder(folder / "tables" / f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(2)}")
    tables = connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall()
    for (table,) in tables:
        if table != "attempts":
            _write(anonymised(connection.table(table), anonymous), part / f"{table}.parquet")
    changes = sql_query("attempt_changes").replace("read_again_columns", ", ".join(READ_AGAIN_STORED))
    _write(connection.sql(changes), part / f"{lake_files.CHANGES}.parquet")
    sync_folder(part)
    for name in [name for name in listed if name.startswith("tables/")]:
        del listed[name]
    listed |= {f"tables/{part.name}/{file.name}": lake_files.checksum(file) for file in part.iterdir()}
    lake_files.write_list(folder, listed)
    _write_script(connection, folder)


def _write_attempts(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    listed: dict[str, str],
    on_rows: Callable[[int], None],
    anonymous: bool,
) -> tuple[int, int]:
    connection.execute(sql_query("not_exported"))
    n_new = n_parts = 0
    for *names, n_rows in connection.execute(sql_query("lake_parts")).fetchall():
        of_part = dict(zip(_PARTITIONS, names, strict=True))
        place = folder / "attempts" / "/".join(f"{name}-{quote(text, safe='')}" for name, text in of_part.items())
        files.made_folder(place)
        rows = anonymised(connection.sql(_PART, params=of_part), anonymous)
        part = place / f"part-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}.parquet"
        _write(rows, files.part_of(part))
        files.moved(files.part_of(part), part)
        listed[part.relative_to(folder).as_posix()] = lake_files.checksum(part)
        lake_files.write_list(folder, listed)
        n_new, n_parts = n_new + n_rows, n_parts + 1
        on_rows(n_rows)
    return n_new, n_parts


def _write(rows: duckdb.DuckDBPyRelation, path: Path) -> None:
    portable_values(rows, is_flat=True).to_parquet(str(path), compression="zstd", row_group_size=ROW_GROUP)
    with files.opened(path) as file:
        onto_disk(file.fileno())


def _write_script(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    comments = comment_statements(connection, trial_views())  # of tables they would make each opening take longer
    files.replace_on_disk(folder / lake_files.SCRIPT, lake_files.script(folder, comments).encode())


def _write_readme(connection: duckdb.DuckDBPyConnection, folder: Path, anonymous: bool) -> None:
    """Write what the folder is, for its readers: what is in it, and how other tools read it."""
    parts = connection.execute(sql_query("lake_contents")).fetchall()
    values = {"parts": parts, "anonymous": anonymous, "written_at": datetime.now(UTC), "version": version("slant")}
    templates = template_environment("slant.collector.keep", is_html=False, filters={"escaped": escaped_markdown})
    files.replace_on_disk(folder / lake_files.README, templates.get_template("lake.md.j2").render(values).encode())
