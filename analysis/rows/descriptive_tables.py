"""Read the tables of a database, as the files in sql/views/2_tables define and describe them: one file, one table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import duckdb
import polars as pl

from slant.analysis.rows.study_choice import no_trials_error
from slant.analysis.rows.views import read_view, set_measure
from slant.collector.arguments import checked_arguments
from slant.collector.designs import third_party_designs
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.keep.database import opens_once, reading, shown_versions
from slant.collector.keep.stored_attempts import designs_in
from slant.collector.keep.view_heads import TableInfo, read_header
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import sql_dir


def table_info() -> dict[str, TableInfo]:
    """Return every table of slant and of other packages' designs, by name: first those of the paper, in its order."""
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
        if name not in infos:
            raise UnknownNameError("table", name, infos)
    with reading(db) as connection:
        designs = _studies(connection, db, study)
        selected = [infos[name] for name in requested] or [info for info in infos.values() if _is_of(info, designs)]
        for info in selected:
            _check_belongs(info, designs, db)
        set_measure(connection, measure)
        frames = {info.name: read_view(connection, info.name, source=source) for info in selected}
    return {name: rows_of_study(frame, study) for name, frame in frames.items()}


def study_name(study: str | None) -> str | None:
    """Return a study's name in the database; if it is given by the path of its file, the name in the
    file.
    """
    is_path = isinstance(study, Path) or (study is not None and (study.endswith(".toml") or "/" in study))
    return load_study(study).name if study is not None and is_path else study


def _studies(connection: duckdb.DuckDBPyConnection, db: str | Path, study: str | None) -> dict[str, str | None]:
    """Return the studies to show, each with its design: the one asked for, or all that have rows."""
    designs = designs_in(connection)
    if not designs:
        raise no_trials_error(db, study)
    if study is not None and study not in designs:
        raise UnknownNameError(f"study in {db}", study, designs)
    return designs if study is None else {study: designs[study]}


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
