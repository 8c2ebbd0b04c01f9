"""Make rows from calls of R: one of the table `calls` each, and those of the tables of what they returned.

The tables are described in sql/migrations, and their types are read from there.

Find fitted models and their draws: in the folder NAME.duckdb.models next to the database, by the fit's id."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.calls.call import Answer, Call
from slant.collector.errors import DatabaseError
from slant.collector.keep.frames import frame_of
from slant.collector.keep.schema import migration_texts
from slant.collector.system.files import check_folder, irregularity, opened, real_file
from slant.collector.system.shipped_files import sql_query

_BLOCK = 1 << 20


def model_folder(db: str | Path) -> Path:
    """Return the folder of a database's fitted models."""
    path = Path(db).resolve()
    path = real_file(path)
    return path.with_name(path.name + ".models")


def made_model_folder(db: str | Path) -> Path:
    """Return the same folder, made if possible: if not, R says that the model was not kept. DatabaseError if something
    else has its name: a model would be written elsewhere.
    """
    folder = model_folder(db)
    try:
        check_folder(folder)
    except OSError as error:
        raise DatabaseError(f'Can\'t keep models in "{folder}": {error.strerror}.', "Move it away.") from error
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
    return folder


def model_file(db: str | Path, call_id: str, ending: str = ".rds") -> Path:
    """Return the path of a file of this fit. Ids also come from the database, so they must be letters and digits."""
    if not call_id.isalnum() or not call_id.isascii():
        raise DatabaseError(f'"{db}" holds a fit with the id "{call_id}", which slant did not make.')
    return model_folder(db) / f"{call_id}{ending}"


def checked_file(path: Path, md5: object, what: str, again: str) -> Path:
    """Return `path` if it is the very file that slant wrote: reading an .rds file can run code. Else DatabaseError.

    `what` is a word for it ("model"), `again` says how to make it again.
    """
    if not path.is_file() or irregularity(path):
        raise DatabaseError(f'The fitted {what} is not next to the database: there is no file "{path}".', again)
    digest = hashlib.md5(usedforsecurity=False)
    with opened(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != md5:
        raise DatabaseError(f'"{path}" is not the {what} that this database recorded.', again)
    return path


ID = "call_id"
Frames = dict[str, pl.DataFrame]


def table_schema(table: str) -> pl.Schema:
    """Return the columns of a table of results, typed as its SQL says."""
    return _table_schemas()[table]


@cache
def _table_schemas() -> dict[str, pl.Schema]:
    """Return the schemas of all tables; cached because making the tables is slow. Each type is converted once: a frame
    of each table would take four times as long."""
    with closing(duckdb.connect(":memory:")) as connection:
        for migration in migration_texts():
            connection.execute(migration)
        columns = connection.execute(sql_query("columns_of_tables")).fetchall()
        types = dict.fromkeys(type_name for _, _, type_name in columns)
        nothing = connection.sql(f"SELECT {', '.join(f'NULL::{name}' for name in types)} LIMIT 0")
        kinds = dict(zip(types, frame_of(nothing).dtypes, strict=True))
    schemas: dict[str, pl.Schema] = {}
    for table, column, type_name in columns:
        schemas.setdefault(table, pl.Schema())[column] = kinds[type_name]
    return schemas


def rows_of_calls(ended: Iterable[tuple[Call, Answer]]) -> Frames:
    """Return the rows of the table `calls`, and of each of their own, for these calls, below each other. Values are
    gathered first: a frame per call would cost milliseconds.
    """
    tables: dict[str, _Columns] = {"calls": _Columns("calls")}
    for call, answer in ended:
        frames = call.shaped(answer) if call.shaped and not answer.error else answer.frames
        row = _call_row(call, answer, frames)
        tables["calls"].add(None, row)
        first = next(iter(call.tables.values()), None)
        for name, table in call.tables.items():
            own = {"status": row["status"], "messages": row["messages"], **call.fill, **call.about}
            own |= {**(call.columns if table == first else {}), ID: call.id}
            columns = tables.setdefault(table, _Columns(table))
            frame = frames.get(name)
            if frame is not None:
                columns.add(frame, own)
            elif name == "about" and not answer.error:
                columns.add(None, own)
            elif table == call.failed:
                columns.add(None, {"n": None if call.rows is None else call.rows.height, **own})
    return {table: columns.frame() for table, columns in tables.items()}


def _call_row(call: Call, answer: Answer, frames: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    messages = [*(f"warning: {text}" for text in call.warnings), *answer.messages]
    messages += [f"error: {' '.join(answer.error)}"] if answer.error else []
    versions = {**answer.versions, "slant": slant_version()} if answer.versions else None
    return {
        ID: call.id,
        "function": call.function,
        "about": call.place,
        "data_hash": call.data_hash,
        "versions": versions and json.dumps(versions),
        "status": _status(call, answer, frames),
        "messages": "\n".join(messages),
        "seconds": answer.seconds,
        "ended_at": datetime.now(UTC).replace(tzinfo=None),
    }


class _Columns:
    """Hold the values of a table by column: what R did not return is taken from the call, or unknown."""

    def __init__(self, table: str) -> None:
        self._schema = table_schema(table)
        self._values: dict[str, list[Any]] = {name: [] for name in self._schema}

    def add(self, frame: pl.DataFrame | None, own: Mapping[str, Any]) -> None:
        """Add the rows of one of R's frames, or one row without any."""
        n = 1 if frame is None else frame.height
        returned = {} if frame is None else {series.name: series for series in frame.get_columns()}
        for name, kind in self._schema.items():
            values = self._values[name]
            if name == "term_no":
                values.extend(range(1, n + 1))
            elif name in returned and name != ID:
                series = returned[name]
                values.extend((series if series.dtype == kind else series.cast(kind)).to_list())
            else:
                values.extend([plain(own.get(name), kind)] * n)

    def frame(self) -> pl.DataFrame:
        """Return the frame without NaN."""
        columns = [pl.Series(name, values, dtype=self._schema[name]) for name, values in self._values.items()]
        return pl.DataFrame(columns).fill_nan(None)


def plain(value: Any, kind: pl.DataType | None = None) -> Any:
    """Return the value as a column of this kind can hold it: lists and mappings as JSON."""
    if value is not None and not isinstance(value, (str, int, float, bool, datetime)):
        value = json.dumps(value, ensure_ascii=False)
    if value is None or kind is None:
        return value
    made = {pl.Float64: float, pl.Int64: int, pl.String: str}.get(type(kind))
    return made(value) if made else value


def _status(call: Call, answer: Answer, frames: Mapping[str, pl.DataFrame]) -> str:
    """Return the status from R's own frame if it has one: failed if all its rows are."""
    own = [frame["status"].to_list() for frame in frames.values() if "status" in frame.columns and frame.height]
    if answer.error or (own and set(own[0]) == {"failed"}):
        return "failed"
    status = own[0][0] if own and len(own[0]) == 1 else "ok"
    return "warned" if call.warnings and status == "ok" else status


@cache
def slant_version() -> str:
    try:
        return version("slant")
    except PackageNotFoundError:
        return "checkout"
