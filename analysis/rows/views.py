"""Read trials and tables as Polars data frames, straight from the database. This needs no R.

Tables are as the files in sql/views/2_tables define and describe them.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.rows.study_choice import no_trials_error
from slant.collector.arguments import checked_arguments
from slant.collector.designs import third_party_designs
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError, check_known
from slant.collector.keep.database import opens_once, reading, showing, shown_versions
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal_loader import nothing_yet
from slant.collector.keep.stored_attempts import TRIALS, designs_in, has_more_than_rounds, trials_view
from slant.collector.keep.view_heads import TableInfo, ordered_view, read_header
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.row_choice import chosen_rows
from slant.collector.system.shipped_files import sql_dir

_QUESTIONS = "allocation_questions"
MEASURES = ("reasoning", "output", "recounted")


@checked_arguments()
def open_trials(
    db: str | Path,
    study: str | None = None,
    view: str | None = None,
    measure: str | None = None,
    version: str | None = None,
    *,
    other_models: bool = False,
    source: str | None = None,
) -> pl.DataFrame:
    """Return the rows of one view, in the order in which slant shows them; `trials` and views that others are made of
    have none. `study` and `source` keep only theirs.

    Without `view`: one row per trial, in the columns of the design of `study`, or of the studies in the database
    (association_trials, forced_choice_trials, allocation_rounds; what games ask besides their rounds is in
    allocation_questions, and a Python warning says so); those that all designs share (`trials`) if there are several.
    An empty result says why, as a Python warning. `version`: only this version of a study, by its beginning (default:
    all of them, distinguished by study_version). `measure` says what `tokens` holds: "reasoning" or "output" tokens as
    the provider counts them, or the reasoning "recounted" (`collect recount`); None is the measure that the study
    names. `other_models`: answers of another model than was requested, which are marked (`is_left_out`) and in no
    table, are rows of a separate model ("ASKED as SERVED"); `showing(other_models=True)` does so for everything within
    it. Counts are in tokens, `latency_s` in seconds, `cost_usd` in US dollars; unknown values are null, never 0.

    Raise DatabaseError if `db` is missing or not slant's, UnknownNameError for an unknown view, measure or version.
    """
    versions = None if version is None else chosen_rows(Path(db), study, study_version=version).versions
    with showing(versions, other_models=other_models), reading(db) as connection:
        set_measure(connection, measure)
        is_lacking = view is None
        view = view or trials_view(connection, study)
        is_lacking = is_lacking and view.endswith("_rounds") and has_more_than_rounds(connection, study)
        rows = read_view(connection, view)
        designs = designs_in(connection)
    if is_lacking:
        warnings.warn(f'These are the rounds of games. Further questions are in: "{_QUESTIONS}".', stacklevel=3)
    if study is not None and "study" in rows.columns:
        rows = rows.filter(pl.col("study") == study)
    if source is not None and "source" in rows.columns:
        rows = rows.filter(pl.col("source") == source)
    if rows.is_empty() and (reason := _why_empty(db, view, study, designs)):
        warnings.warn(reason, stacklevel=3)
    return rows


def _why_empty(db: str | Path, view: str, study: str | None, designs: Mapping[str, str | None]) -> str | None:
    """Return the reason why a view of trials has no rows; None for a table, which may be empty."""
    contents = ", ".join(f"{name} ({design})" for name, design in designs.items())
    if not contents:
        return nothing_yet(Path(db))
    if study is not None and study not in designs:
        return f'"{db}" holds no trials of "{study}". It holds: {contents}.'
    if not view.endswith(TRIALS):
        return None
    return f'The view "{view}" has no rows{f" of {study}" if study else ""}: "{db}" holds {contents}.'


def view_names(db: str | Path) -> list[str]:
    """Return the names of the views that the database stores, sorted."""
    with reading(db) as connection:
        return stored_views(connection)


def view_columns(db: str | Path, view: str) -> list[str]:
    """Return the names of the columns of a view that the database stores."""
    with reading(db) as connection:
        return connection.view(view).columns


def stored_views(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL").fetchall()
    return [name for (name,) in rows]


def read_view(connection: duckdb.DuckDBPyConnection, view: str, **only: str | None) -> pl.DataFrame:
    """Return a view as a frame, with only the rows that have these values in the columns of these names (None: any);
    the view's name is looked up among the stored ones before DuckDB sees it."""
    names = stored_views(connection)
    if view in names:
        frame: pl.DataFrame = frame_of(ordered_view(connection, view, names))
        return frame.filter(**{column: value for column, value in only.items() if value is not None})
    if list(sql_dir().glob(f"views/*/*{view}.sql")) and view.isidentifier():
        raise DatabaseError(
            f'This database has no view "{view}": it was made by an older slant, and could not be updated.',
            "Close it in other programs (a collector, a shell, R), make the file writable, "
            "then type: collect load --db FILE",
        )
    raise UnknownNameError("view", view, names)


def view_rows(db: str | Path, view: str, **only: str | None) -> pl.DataFrame:
    """Return `read_view` of a database."""
    with reading(db) as connection:
        return read_view(connection, view, **only)


def rows_if_kept(db: str | Path, view: str, **only: str | None) -> pl.DataFrame:
    """Return `view_rows`; no rows and no columns if the database was made by an older slant without this view."""
    with reading(db) as connection:
        return read_view(connection, view, **only) if view in stored_views(connection) else pl.DataFrame()


def set_measure(connection: duckdb.DuckDBPyConnection, measure: str | None) -> None:
    """Set what `tokens` means in every view of this connection (see sql/views/1_trials)."""
    check_measure(measure)
    if measure is not None:
        connection.execute("SET VARIABLE measure = ?", [measure])


def check_measure(measure: str | None) -> None:
    """Raise UnknownNameError if there is no such measure."""
    if measure is not None and measure not in MEASURES:
        raise UnknownNameError("measure", measure, MEASURES)


_NAMED = ("model", "test", "condition")


def with_labels(rows: pl.DataFrame, connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return rows with labels and numbers of model, test and condition. Rows have these three, study and study_version;
    the label (`model_label` …) and the number (`model_no` …) are added if the column is missing. What a study does not
    name is its own label.
    """
    for name in _NAMED:
        if f"{name}_label" in rows.columns:
            continue
        known = read_view(connection, f"{name}s").rename({"label": f"{name}_label"})
        known = known.select("study", "study_version", name, f"{name}_label", f"{name}_no")
        rows = rows.join(known, on=["study", "study_version", name], how="left", maintain_order="left")
        rows = rows.with_columns(pl.coalesce(f"{name}_label", name).alias(f"{name}_label"))
    return rows


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return lists and maps, which no cell of a CSV holds, as JSON; bytes as hexadecimal digits."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Object]
    return frame.with_columns(
        pl.Series(name, [None if value is None else _json(value) for value in frame[name]], dtype=pl.String)
        for name in nested
    )


def _json(value: Any) -> str:
    plain = value.to_list() if isinstance(value, pl.Series) else value
    return json.dumps(plain, ensure_ascii=False, default=str)


def table_info() -> dict[str, TableInfo]:
    """Return the tables of slant and of other packages' designs, by name: first those of the paper, in its order."""
    texts = [file.read_text("utf-8") for file in (sql_dir() / "views" / "2_tables").glob("*.sql")]
    texts += [text for design in third_party_designs() for text in design.analyses.views.values()]
    infos = [read_header(text) for text in texts]
    return {info.name: info for info in sorted(infos, key=_place)}


def views_of_papers(design: str) -> dict[str, TableInfo]:
    """Return the views of numbers that papers of this design print, by name; not those that only such views read."""
    infos = [read_header(file.read_text("utf-8")) for file in (sql_dir() / "views" / "3_paper").glob("*.sql")]
    of_design = [info for info in infos if info.gives and design in info.designs]
    return {info.name: info for info in sorted(of_design, key=lambda info: info.name)}


def _place(info: TableInfo) -> tuple[int, str]:
    number = re.search(r"\d+", info.paper or "")
    return (int(number[0]) if number else 1000, info.name)


@checked_arguments()
@opens_once
def tables(
    db: str | Path,
    study: str | None = None,
    names: Iterable[str] | None = None,
    measure: str | None = None,
    source: str | None = None,
) -> dict[str, pl.DataFrame]:
    """Return the named tables (all of them without `names`), by name, as printed: ordered rows, every source in
    separate rows.

    `study` (a name, or the path of a study file) and `source` keep only rows of these; `measure` is as for
    `open_trials`. A table that counts errors may be empty. Raise UnknownNameError for an unknown table, and for a study
    that the database lacks, UsageError for a table of another study, DatabaseError if the database holds no trials.
    """
    study = study_name(study)
    infos = table_info()
    requested = list(names) if names is not None else []
    for name in requested:
        check_known("table", name, infos)
    with reading(db) as connection:
        if not (designs := designs_in(connection)):
            raise no_trials_error(db, study)
        if study is not None and study not in designs:
            raise UnknownNameError(f"study in {db}", study, designs)
        designs = designs if study is None else {study: designs[study]}
        selected = [infos[name] for name in requested] or [info for info in infos.values() if _is_of(info, designs)]
        for info in selected:
            _check_belongs(info, designs, db)
        set_measure(connection, measure)
        frames = {info.name: read_view(connection, info.name, source=source) for info in selected}
    return {name: rows_of_study(frame, study) for name, frame in frames.items()}


def study_name(study: str | None) -> str | None:
    """Return a study's name in the database; if it is given by the path of its file, the name in the file."""
    is_path = isinstance(study, Path) or (study is not None and (study.endswith(".toml") or "/" in study))
    return load_study(study).name if study is not None and is_path else study


def _is_of(info: TableInfo, designs: dict[str, str | None]) -> bool:
    return any(info.is_about(design) for design in designs.values())


def _check_belongs(info: TableInfo, designs: dict[str, str | None], db: str | Path) -> None:
    if not _is_of(info, designs):
        designs_named = '" or "'.join(info.designs)
        raise UsageError(
            f'The table "{info.name}" belongs to studies of the design "{designs_named}", but none of them is shown.',
            f'Shown of "{db}": {", ".join(f"{study} ({design})" for study, design in designs.items())}.',
        )


def rows_of_study(frame: pl.DataFrame, study: str | None) -> pl.DataFrame:
    """Return the rows of a table that belong to this study, and to the versions that are shown."""
    of_study = [name for name in ("study", "coding_study") if name in frame.columns]  # either side of a coding
    rows = frame
    if study is not None and of_study:
        rows = frame.filter(pl.any_horizontal(pl.col(name) == study for name in of_study))
    versions = shown_versions()  # for what was fitted and kept, as for the trials themselves
    if versions is None or "study_version" not in rows.columns:
        return rows
    return rows.filter(pl.col("study_version").is_in(versions))
