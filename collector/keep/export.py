"""Writes one view of the database as Parquet, CSV or JSON lines, for people without DuckDB."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import polars as pl
import pyarrow as pa

from slant.collector.errors import SlantError, UnknownNameError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.stored_designs import has_more_than_rounds, trials_view

FORMATS = ("parquet", "csv", "jsonl")
_BATCH = 5_000
_GAMES = "source, study, study_version, variant, model, repetition, game"
_ORDERS = {  # the other views of trials are ordered by themselves
    "trials": "run_id, sequence",
    "allocation_candidates": f"{_GAMES}, round, trial_id, group_no",
    "allocation_questions": f"{_GAMES}, trial_id",
    "allocation_ratings": f'{_GAMES}, rating, "group", trial_id',
}
_OF_GAMES = {
    "allocation_rounds": "rounds", "allocation_candidates": "rounds", "allocation_questions": "questions",
    "allocation_ratings": "ratings", "elicited_rates": "elicitation",
}  # fmt: skip
_FORMULA = r"^[=+\-@\t\r\n]"


@dataclass
class ExportReport:
    """What was written: the number of rows, and how many of each source (collected, imported, simulated)."""

    rows: int = 0
    sources: Counter[str] = field(default_factory=Counter)


def export_trials(
    db: str | Path,
    out: str | Path | BinaryIO,
    view: str | None = None,
    format: str | None = None,
    *,
    spreadsheet_safe: bool = False,
    force: bool = False,
) -> ExportReport:
    """Write all rows of `view` to the file `out` (or an open binary file), a batch at a time. None: see `usual_view`.

    `format` is parquet, csv or jsonl; None goes by the file's ending. In a CSV an unknown value is an empty cell, an
    empty text is "". `spreadsheet_safe` puts an apostrophe before texts in a CSV that a spreadsheet would run as a
    formula; such a file no longer holds the answers as they were given, so don't import it again.

    UsageError where `out` exists already and not `force`, or the format is unknown; DatabaseError for a bad database.
    """
    view = view or usual_view(db)
    chosen = format or (Path(out).suffix.lower().lstrip(".") if isinstance(out, (str, Path)) else "")
    if chosen not in FORMATS:
        raise UnknownNameError("export format", chosen, FORMATS)
    if spreadsheet_safe and chosen != "csv":
        raise UsageError("Only a CSV is made safe for spreadsheets.", "Add: --format csv")
    report = ExportReport()
    with (
        reading(db) as connection,
        _rows(connection, view) as batches,
        _opened(out, force) as file,
        _writer(chosen, file, batches.schema, spreadsheet_safe) as write,
    ):
        for batch in batches:
            write(batch)
            _count(report, batch)
    return report


def usual_view(db: str | Path) -> str:
    """The view that shows all trials of a database: see `trials_view`; `trials` for games with questions, too."""
    with reading(db) as connection:
        view = trials_view(connection)
        return "trials" if view.endswith("_rounds") and has_more_than_rounds(connection) else view


def views_of_games(db: str | Path) -> list[str]:
    """The views that hold the games of a database, a row a round, a candidate, a question, a rating; none without."""
    with reading(db) as connection:
        tests = connection.execute("SELECT DISTINCT test FROM attempts WHERE game IS NOT NULL").fetchall()
    return [view for view, test in _OF_GAMES.items() if (test,) in tests]


@contextmanager
def _rows(connection: duckdb.DuckDBPyConnection, view: str) -> Iterator[Any]:
    known = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    names = [name for (name,) in known]
    if view not in names:
        raise UnknownNameError("view", view, names)
    relation = connection.view(view)
    if view in _ORDERS:
        relation = relation.order(_ORDERS[view])
    yield relation.to_arrow_reader(_BATCH)


def _count(report: ExportReport, batch: Any) -> None:
    report.rows += batch.num_rows
    if "source" in batch.schema.names:
        report.sources.update(batch.column("source").to_pylist())


@contextmanager
def _opened(out: str | Path | BinaryIO, force: bool) -> Iterator[BinaryIO]:
    """The file to write to; it gets its name when it is complete, so a broken export leaves an older one as it was."""
    if not isinstance(out, (str, Path)):
        yield out
        return
    path = Path(out)
    if path.exists() and not force:
        raise UsageError(f"There is a file {path} already.", "To replace it: --force")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise SlantError(f"Can't write {path}: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _writer(format: str, file: BinaryIO, schema: pa.Schema, is_safe: bool) -> Iterator[Callable[[Any], None]]:
    if format == "parquet":
        import pyarrow.parquet as pq

        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            yield writer.write_batch
        return
    if format == "csv":
        file.write(_frame(schema.empty_table(), False).write_csv().encode())

    def write(batch: Any) -> None:  # through text: a pipe that closes must end us as it ends everybody else
        frame = _frame(batch, is_safe)
        lines = frame.write_csv(include_header=False) if format == "csv" else frame.write_ndjson()
        file.write(lines.encode())

    yield write


def _frame(batch: Any, is_safe: bool) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(batch))
    if not is_safe:
        return frame
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(text.str.contains(_FORMULA)).then("'" + text).otherwise(text).name.keep())
