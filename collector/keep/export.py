"""Write one view of the database as Parquet, CSV or JSON lines, for people without DuckDB."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import duckdb
import polars as pl

from slant.collector.arguments import checked_arguments
from slant.collector.errors import SlantError, UnknownNameError, UsageError, check_known
from slant.collector.keep import stored_attempts
from slant.collector.keep.anonymous import anonymised
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.frames import BYTE_ORDER_MARK, portable_values, safe_for_spreadsheets, times_as_text
from slant.collector.keep.view_heads import known_view, ordered_view
from slant.collector.request_messages import sent_text
from slant.collector.system.files import is_stream, opened, remove
from slant.collector.system.scratch import temporary_folder, whole_file
from slant.collector.system.shipped_files import sql_query

FORMATS = ("parquet", "csv", "jsonl")
_BATCH = 20_480  # rows; DuckDB writes a group of this size at once
_GAMES = "source, study, study_version, variant, model, repetition, game"
_ORDERS = {  # the other views of trials are already ordered
    "trials": "run_id, sequence",
    "allocation_candidates": f"{_GAMES}, round, trial_id, group_no",
    "allocation_questions": f"{_GAMES}, trial_id",
    "allocation_ratings": f'{_GAMES}, rating, "group", trial_id',
}
_OF_GAMES = {
    "allocation_rounds": "rounds", "allocation_candidates": "rounds", "allocation_questions": "questions",
    "allocation_ratings": "ratings", "elicited_rates": "elicitation",
}  # fmt: skip


@dataclass
class ExportReport:
    """Report what was written: the number of rows, and how many of each source (collected, imported, simulated)."""

    rows: int = 0
    sources: Counter[str] = field(default_factory=Counter)


@checked_arguments()
def export_trials(
    db: str | Path,
    study: str | None = None,
    out: str | Path | BinaryIO = "trials.parquet",
    view: str | None = None,
    format: str | None = None,
    *,
    spreadsheet_safe: bool = False,
    overwrite: bool = False,
    anonymous: bool = False,
    prompts: bool = False,
) -> ExportReport:
    """Write the rows of `view` to the file `out` (or an open binary file), a batch at a time. None: see `usual_view`.

    `study` leaves only the rows of that study; None writes those of all. A view without a study is written completely.
    `format` is parquet, csv or jsonl; None goes by the file's ending. In a CSV an unknown value is an empty cell, an
    empty text is "". Times are UTC, and say so. `spreadsheet_safe` writes a CSV for spreadsheets: with a byte order
    mark, an apostrophe before texts that would run as formulas, and a column `is_spreadsheet_safe`, by which an import
    removes the apostrophes again. `anonymous` leaves out what reveals who collected (keep/anonymous.py): commands,
    paths, hosts, headers, ids of requests, raw responses. `prompts` adds the column `prompt` to a view of trials: the
    messages as they were sent, each after its role.

    Raise UsageError if `out` exists and `overwrite` is false, UnknownNameError for an unknown format, view or study,
    DatabaseError for a bad database.
    """
    view = view or usual_view(db, study)
    ending = Path(out).suffix.lower().lstrip(".") if isinstance(out, (str, Path)) else ""
    chosen = format or ending
    if ending in FORMATS and chosen in FORMATS and chosen != ending:
        raise UsageError(
            f'"{out}" ends as {ending} does, and the format is {chosen}.', "Leave out the format, or name another file."
        )
    check_known("export format", chosen, FORMATS)
    if spreadsheet_safe and chosen != "csv":
        raise UsageError("Only a CSV is made safe for spreadsheets.", "Add: --format csv")
    with _opened(out, overwrite) as (file, folder):
        rows = folder / "rows.parquet"
        with reading(db, writes_to=folder) as connection:
            known_view(connection, view)
            relation = ordered_view(connection, view)
            if study is not None and "study" in relation.columns:
                if study not in (studies := stored_attempts.designs_in(connection)):
                    raise UnknownNameError("study in this database", study, studies)
                relation = relation.filter(duckdb.ColumnExpression("study") == duckdb.ConstantExpression(study))
            rows_of_view = stored_attempts.attributes_apart(
                relation.order(_ORDERS[view]) if view in _ORDERS else relation
            )
            kept = anonymised(_with_prompts(connection, rows_of_view, folder) if prompts else rows_of_view, anonymous)
            _write_parquet(kept, rows, "zstd" if chosen == "parquet" else "snappy")
        if chosen == "parquet":
            with opened(rows) as whole:
                shutil.copyfileobj(whole, file)
        else:
            _write_text(rows, chosen, file, spreadsheet_safe)
        scan = pl.scan_parquet(rows, glob=False)
        if "source" not in scan.collect_schema():
            return ExportReport(scan.select(pl.len()).collect().item())
        sources = Counter(dict(scan.group_by("source").len().sort("source").collect().rows()))
        return ExportReport(sources.total(), sources)


def usual_view(db: str | Path, study: str | None = None) -> str:
    """Return the view of all trials: see `trials_view`; `trials` for games with questions, and if
    the view of a design has several rows for one trial.
    """
    with reading(db) as connection:
        view = stored_attempts.trials_view(connection, study)
        is_lacking = view.endswith("_rounds") and stored_attempts.has_more_than_rounds(connection, study)
        return "trials" if is_lacking or stored_attempts.has_parts(connection, view, study) else view


def views_of_games(db: str | Path) -> list[str]:
    """Return the views that hold the games of a database, with a row per round, candidate, question or rating; none
    without games.
    """
    tests = fetched(db, "SELECT DISTINCT test FROM attempts WHERE game IS NOT NULL")
    return [view for view, test in _OF_GAMES.items() if (test,) in tests]


def _with_prompts(
    connection: duckdb.DuckDBPyConnection, rows: duckdb.DuckDBPyRelation, folder: Path
) -> duckdb.DuckDBPyRelation:
    """Return rows of trials with what was sent, in their order; the texts go through a file in `folder`."""
    if "trial_id" not in rows.columns:
        raise UsageError("Prompts belong to trials, and this view has no column trial_id.", "Leave out --prompts.")
    sent = connection.sql(sql_query("prompts_sent")).fetchall()
    texts = pl.DataFrame(
        {"sent_hash": [row[0] for row in sent], "prompt": [sent_text(row[1]) for row in sent]},
        schema={"sent_hash": pl.String, "prompt": pl.String},
    )
    texts.write_parquet(folder / "prompts.parquet")
    numbered = rows.project("row_number() OVER () AS row_no, *")
    of_trials = connection.sql(sql_query("prompts_of_trials"))
    hashed = numbered.join(of_trials, "trial_id", how="left")
    with_texts = hashed.join(connection.read_parquet(str(folder / "prompts.parquet")), "sent_hash", how="left")
    return with_texts.order("row_no").project("* EXCLUDE (row_no, sent_hash)")


def write_rows(relation: duckdb.DuckDBPyRelation, path: Path, format: str, *, spreadsheet_safe: bool = False) -> None:
    """Write the rows of any relation as a new file of one of FORMATS; DuckDB writes them first, into the folder of
    `path`.
    """
    relation = stored_attempts.attributes_apart(relation)
    if format == "parquet":
        _write_parquet(relation, path, "zstd")
        return
    rows = path.with_name(f"{path.name}.rows.parquet")
    _write_parquet(relation, rows, "snappy")
    with opened(path, "wb") as file:
        _write_text(rows, format, file, spreadsheet_safe)
    remove(rows)


def _write_parquet(relation: duckdb.DuckDBPyRelation, rows: Path, compression: str) -> None:
    """Write rows as Parquet; from there they come back a few thousand at a time, in order, with their types."""
    try:
        portable_values(relation).to_parquet(str(rows), compression=compression, row_group_size=_BATCH)
    except duckdb.IOException as error:
        raise OSError(str(error).splitlines()[0]) from error


@contextmanager
def _opened(out: str | Path | BinaryIO, overwrite: bool) -> Iterator[tuple[BinaryIO, Path]]:
    """Open the output file and a temporary folder. The file gets its name when it is complete, so a broken export
    leaves an older one as it was.
    """
    if not isinstance(out, (str, Path)):
        with temporary_folder("export") as folder:
            yield out, folder
        return
    path = Path(out)
    if path.exists() and not overwrite and not is_stream(path):
        raise UsageError(f"There is a file {path} already.", "To replace it: --overwrite (from Python: overwrite=True)")
    try:
        with whole_file(path) as opened_file:
            yield opened_file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise SlantError(f"Can't write {path}: {error.strerror or error}.") from error


def _write_text(rows: Path, format: str, file: BinaryIO, is_safe: bool) -> None:
    """Write through memory: a pipe that closes must end us as it ends any other process."""
    scan = times_as_text(pl.scan_parquet(rows, glob=False))
    if is_safe:
        scan = safe_for_spreadsheets(scan)
        file.write(BYTE_ORDER_MARK)
    if format == "csv":
        file.write(scan.head(0).collect().write_csv().encode())
    for start in range(0, scan.select(pl.len()).collect().item(), _BATCH):
        frame = scan.slice(start, _BATCH).collect(engine="in-memory")
        lines = io.BytesIO()
        if format == "csv":
            frame.write_csv(lines, include_header=False)
        else:
            frame.write_ndjson(lines)
        file.write(lines.getbuffer())
