"""Add what an archive says about a study without R: data with their codebook, tables, the study's files, prompts.

Describe each column of the data: in a codebook, and in psych-DS form (schema.org's terms).

There is one source: sql/columns.csv for columns, the heads of the views' files for what a row is."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.archive import layout
from slant.analysis.archive.journals import PrivateWords, SealedJournal
from slant.analysis.archive.steps import Step
from slant.analysis.questions.occasions import ANSWERS, retest_calls
from slant.analysis.rows.views import flat, table_info, tables
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.export import export_trials, usual_view, views_of_games
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import TableInfo, read_view_heads
from slant.collector.request_messages import sent_text
from slant.collector.studies.catalogue import Study
from slant.collector.system.files import write_file
from slant.collector.system.shipped_files import csv_rows, sql_dir, sql_query

_KINDS = {"String": "text", "Boolean": "true or false", "Datetime": "time", "Date": "date"}


@dataclass(frozen=True)
class DataFile:
    """Hold a file of data, by its names in the archive, and the view that it contains."""

    view: str
    csv: str
    parquet: str
    n_rows: int


@functools.cache
def column_meanings() -> dict[str, dict[str, str]]:
    """Return the unit, meaning, values and source of each column name."""
    return {row.pop("column"): row for row in csv_rows(sql_dir() / "columns.csv")}


def codebook_rows(files: Sequence[DataFile], folder: Path) -> pl.DataFrame:
    """Return a row for each column of each file: file, column, type, unit, meaning, values, source, n_missing."""
    heads, rows = read_view_heads(), []
    for file in files:
        scan = pl.scan_parquet(folder / file.parquet, glob=False)
        schema = scan.collect_schema()
        missing = scan.null_count().collect().row(0, named=True)
        for name, kind in schema.items():
            known = column_meanings().get(name) or _of_head(heads.get(file.view))
            rows.append(
                {"file": file.csv, "column": name, "type": type_in_words(kind), **known, "n_missing": missing[name]}
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _of_head(head: TableInfo | None) -> dict[str, str]:
    """Return the codebook entry of a column of another package's design, from its view's head."""
    note = f"See the view {head.name}: {head.note}" if head else ""
    return {"unit": "", "meaning": note, "values": "", "source": ""}


def type_in_words(kind: pl.DataType) -> str:
    if kind.is_integer():
        return "whole number"
    return "number" if kind.is_numeric() else _KINDS.get(str(kind).partition("(")[0], "text")


def dataset_description(name: str, description: str, book: pl.DataFrame, **more: Any) -> str:
    """Return the file of that name in psych-DS: JSON-LD with a variable for each column."""
    variables = [
        {"@type": "PropertyValue", "name": row["column"], "description": row["meaning"]}
        | {name: row[column] for name, column in (("unitText", "unit"), ("value", "values")) if row[column]}
        for row in book.unique("column", keep="first", maintain_order=True).to_dicts()
    ]
    whole = {"@context": "http://schema.org/", "@type": "Dataset", "name": name, "description": description}
    return json.dumps({**whole, **more, "variableMeasured": variables}, ensure_ascii=False, indent=1) + "\n"


def add_data(contents: Contents, authors: Sequence[str], license: str | None) -> None:
    """Add the trials in the columns of their design; for games also the other questions, and what was asked again on
    another day, if anything was."""
    copy, heads = contents.copy, read_view_heads()
    views = list(dict.fromkeys([usual_view(copy, contents.study.name), *views_of_games(copy)]))
    views = [view for view in views if view != "trials"] or ["trials"]
    views += [ANSWERS] if retest_calls(copy, contents.study.name) else []
    (contents.folder / layout.DATA).mkdir()
    for view in views:
        file = data_file(contents.study.name, view)
        report = export_trials(copy, contents.study.name, contents.folder / file.parquet, view, prompts=True)
        export_trials(copy, contents.study.name, contents.folder / file.csv, view, prompts=True)
        contents.data.append(DataFile(view, file.csv, file.parquet, report.rows))
    book = codebook_rows(contents.data, contents.folder)
    contents.write(layout.CODEBOOK, book.write_csv())
    purposes = " ".join(f"{file.csv}: {heads[file.view].purpose}" for file in contents.data if file.view in heads)
    more = {
        "version": ", ".join(versions_in(copy)),
        **({"citation": contents.study.source} if contents.study.source else {}),
        **({"author": [{"@type": "Person", "name": name} for name in authors]} if authors else {}),
        **({"license": license} if license else {}),
    }
    contents.write(layout.DESCRIPTION, dataset_description(contents.study.title, purposes, book, **more))


def data_file(study: str, view: str) -> DataFile:
    """Return the file names of a view."""
    stem = f"{layout.DATA}/study-{_key(study)}_description-{_key(view)}"
    return DataFile(view, f"{stem}_data.csv", f"{stem}.parquet", 0)


def _key(name: str) -> str:
    """Return a value of a file's name in psych-DS: letters and digits alone."""
    return "".join(character for character in name if character.isalnum() and character.isascii())


def versions_in(db: Path) -> list[str]:
    return [version for (version,) in fetched(db, "SELECT DISTINCT study_version FROM attempts ORDER BY ALL")]


def add_tables(contents: Contents) -> None:
    frames = study_tables(contents.copy, contents.study)
    heads = read_view_heads()
    for name in write_tables(frames, contents.folder / layout.TABLES):
        what = heads[name].purpose + (f" ({heads[name].paper})" if heads[name].paper else "")
        command = f"analyze tables {name} --study {contents.study.name}"
        contents.results.append({"file": f"{layout.TABLES}/{name}.csv", "command": command, "what": what})


def add_sources(contents: Contents) -> None:
    """Add the study's files, version by version, and each kind of prompt as sent."""
    texts, notes = source_texts(contents.copy, contents.study.name)
    contents.notes += notes
    for name, text in texts.items():
        contents.write(name, text)


def source_texts(db: Path, study: str) -> tuple[dict[str, str], list[str]]:
    """Return these files' texts from the database by name, and the reasons for files that can't be in an archive."""
    named, found, notes = {"study": study}, {}, []
    with reading(db) as connection:
        files = connection.execute(sql_query("study_texts"), named).fetchall()
        prompts = frame_of(connection.sql(sql_query("kinds_of_prompts"), params=named))
    for version, file, text in files:
        name = f"{layout.STUDY}/{version}/{file}"
        if reason := layout.why_not_allowed(name):
            notes.append(f'The study\'s file "{file}" is in the journals only: {reason}.')
        else:
            found[name] = text
    texts = list(map(sent_text, prompts["request"]))
    in_words = prompts.with_columns(pl.Series("in_words", texts, pl.String))
    return {**found, f"{layout.PROMPTS}/prompts.csv": in_words.write_csv()}, notes


@dataclass
class Contents:
    """Hold what goes into the archive while it is put together in `folder`; `copy` is this study's own database."""

    study: Study
    folder: Path
    copy: Path
    private: PrivateWords
    without: tuple[str, ...]
    journals: list[SealedJournal] = field(default_factory=list)
    data: list[DataFile] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    results: list[dict[str, str]] = field(default_factory=list)
    run_times: list[dict[str, str]] = field(default_factory=list)
    computed: list[pl.DataFrame] = field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, self.private.in_text(text))


def study_tables(db: Path, study: Study) -> dict[str, pl.DataFrame]:
    """Return the tables of the study's design, by name."""
    names = [info.name for info in table_info().values() if info.is_about(study.design.name)]
    return tables(db, study=study.name, names=names)


def write_tables(frames: Mapping[str, pl.DataFrame], folder: Path) -> list[str]:
    """Write each table that has rows as NAME.csv; return the names."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, frame in frames.items():
        if frame.height:
            write_file(folder / f"{name}.csv", flat(frame).write_csv())
            written.append(name)
    return written


def read_by(db: Path) -> dict[str, frozenset[str]]:
    """Return the tables of results that each view reads, directly or through others."""
    results = {name for (name,) in fetched(db, sql_query("tables_of_results"))}
    heads: dict[str, TableInfo] = read_view_heads()
    found: dict[str, frozenset[str]] = {}

    def of(name: str) -> frozenset[str]:
        if name in results:
            return frozenset((name,))
        if name not in found:
            found[name] = frozenset()  # in case views read each other in a circle
            found[name] = frozenset().union(*map(of, heads[name].reads)) if name in heads else frozenset()
        return found[name]

    return {name: of(name) for name in heads}
