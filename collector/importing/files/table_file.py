"""One file of rows, whatever its kind: its columns, its rows, and what is to be said of it.

Reads Parquet; it has no lines, and a line is the number of a row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector.errors import UsageError
from slant.collector.importing.files import packed
from slant.collector.importing.files.kinds import ENDINGS, PACKED, Problem, Row, fault_in, kind_of, tidy_name, unlike
from slant.collector.importing.files.text_rows import CsvFile, document_rows, line_rows, rows_of_document
from slant.collector.importing.files.tool_logs import has_choices, with_chosen_text, with_header
from slant.collector.importing.files.workbooks import Workbook
from slant.collector.keep.frames import SAFE_MARK, as_given
from slant.collector.system.scratch import temporary_folder

_ROWS_AT_ONCE = 20_000


def scanned(path: Path) -> pl.LazyFrame:
    """Read this file's rows: no others that its name would match as a pattern, no columns that folders' names would
    give.
    """
    return pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)


@contextmanager
def _parquet(path: Path) -> Iterator[pl.LazyFrame]:
    try:
        with path.open("rb"):
            yield scanned(path)
    except pl.exceptions.DuplicateError as error:
        raise UsageError(f"Can't import {path}.", f"Each column must have a name of its own, but: {error}.") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise UsageError(f"Can't import {path}.", f"It must be a Parquet file, but: {error}") from error


def parquet_rows(path: Path, file: str) -> Iterator[Row | Problem]:
    with _parquet(path) as scan:
        names = [tidy_name(name) for name in scan.collect_schema()]
        for start in range(0, scan.select(pl.len()).collect().item(), _ROWS_AT_ONCE):
            for line, values in enumerate(scan.slice(start, _ROWS_AT_ONCE).collect().iter_rows(), start + 1):
                fault = fault_in(values)
                yield (Problem(file, line, fault) if fault else Row(file, line, dict(zip(names, values, strict=True))))


_WORKBOOK_PARTS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
_MOST_DEPTH = 3
IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')
"""Match a cell of the third row of a file of Qualtrics."""


@dataclass
class TableFile:
    """Hold a file as `name`s it to people; it lies at `path`, which is another place where it was packed."""

    name: str
    path: Path
    kind: str
    remarks: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """Return the columns, trimmed and in lower case. UsageError if there are none to be had."""
        return [name for name in self._columns_as_written if name != SAFE_MARK]

    @cached_property  # of JSON they are in all its rows
    def _columns_as_written(self) -> list[str]:
        if self.kind == "parquet":
            with _parquet(self.path) as scan:
                return unlike(str(self.path), [tidy_name(name) for name in scan.collect_schema()])
        if self.kind == "csv":
            with self.path.open("rb") as stream:
                return CsvFile(self.name, stream).header
        if self.kind == "workbook":
            return list(self._sheet.columns)
        names: dict[str, None] = {}
        for row in self.rows():
            if isinstance(row, Row):
                names.update(dict.fromkeys(row.cells))
        return list(names)

    @property
    def stem(self) -> str:
        """Return its name without folders and endings."""
        name = Path(self.name).name
        while Path(name).suffix.lower() in ENDINGS:
            name = Path(name).stem
        return name

    @property
    def delimiter(self) -> str | None:
        """Return the separator of the fields of a CSV; None for other files."""
        if self.kind != "csv":
            return None
        with self.path.open("rb") as stream:
            return CsvFile(self.name, stream).delimiter

    def header_lines(self) -> set[int]:
        """Return the lines of the second and the third header of a survey of Qualtrics; none of other files."""
        if self.kind not in ("csv", "workbook"):
            return set()
        first = [row for row in islice(self.rows(), 2) if isinstance(row, Row)]
        ids = first[1].cells.values() if len(first) == 2 else ()
        is_survey = any(isinstance(cell, str) and IMPORT_ID.match(cell) for cell in ids)
        return {row.line for row in first if is_survey}

    def different(self, columns: Sequence[str]) -> dict[str, set[str]] | None:
        """Return the different texts in these columns of a CSV or Parquet file, in a second where rows take a minute;
        None if that can't be had so, or the file is another one.
        """
        if self.kind not in ("csv", "parquet"):
            return None
        names = self._columns_as_written
        try:
            scan = self._scanned(names)
            found = scan.select(pl.col(name).cast(pl.String).unique().implode() for name in columns).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError):
            return None
        return {name: {text for text in found[name].item() if text is not None} for name in columns}

    def _scanned(self, names: Sequence[str]) -> pl.LazyFrame:
        if self.kind == "parquet":
            return scanned(self.path).rename(lambda name: tidy_name(name))
        with self.path.open("rb") as stream:
            file = CsvFile(self.name, stream)
        return pl.scan_csv(
            self.path.absolute(),
            skip_lines=file.n_skipped,
            glob=False,
            separator=file.delimiter,
            infer_schema=False,
            truncate_ragged_lines=True,
            new_columns=list(names),
            encoding="utf8-lossy",
            low_memory=True,
        )

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the records in the file's own order; memory does not grow with the file, but for workbooks and
        documents. What an export put before texts for spreadsheets is taken off again.
        """
        is_safe: bool | None = None
        has_texts = self.kind == "csv" and has_choices(self.columns)
        for row in self._rows_as_written():
            if isinstance(row, Row):
                is_safe = SAFE_MARK in row.cells if is_safe is None else is_safe
                row = replace(row, cells=as_given(row.cells)) if is_safe else row
                yield replace(row, cells=with_chosen_text(row.cells)) if has_texts else row
            else:
                yield row

    def _rows_as_written(self) -> Iterator[Row | Problem]:
        if self.kind == "csv":
            with self.path.open("rb") as stream:
                yield from CsvFile(self.name, stream)
        elif self.kind == "parquet":
            yield from parquet_rows(self.path, self.name)
        elif self.kind == "workbook":
            yield from self._sheet
        elif self.kind == "eval":
            yield from _inspect_rows(self.name, self.path)
        else:
            yield from (line_rows if self.kind == "jsonl" else document_rows)(self.name, self.path)

    @cached_property
    def _sheet(self) -> Workbook:
        workbook = Workbook(self.path, self.name)
        self.remarks += workbook.remarks
        return workbook


class TableFiles:
    """Hold the files of an import, unpacked for as long as it takes; once each, of a folder those directly in it."""

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._paths = [Path(path) for path in paths]
        self._stack = ExitStack()
        self.sources: list[Path] = []

    def __enter__(self) -> Sequence[TableFile]:
        try:
            self._folder: Path | None = None
            return [file for path in self._listed() for file in self._opened(str(path), path)]
        except BaseException:
            self._stack.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _listed(self) -> Iterator[Path]:
        seen: set[Path] = set()
        for path in self._paths:
            files = [path]
            if path.is_dir():
                files = sorted(file for file in path.iterdir() if file.suffix.lower() in ENDINGS and file.is_file())
                if not files:
                    raise UsageError(f"There is nothing to import directly in the folder {path}.", _advice(path))
            elif not path.is_file():
                raise UsageError(f"There is no file {path}.")
            for file in files:
                if file.resolve() not in seen:
                    seen.add(file.resolve())
                    self.sources.append(file)
                    yield file

    def _opened(self, name: str, path: Path, depth: int = 0) -> Iterator[TableFile]:
        kind = kind_of(path, name)
        if kind == "zip":
            kind = _kind_of_zip(path)
        if kind not in PACKED:
            if kind == "workbook" and path.suffix.lower() not in (".xls", ".doc"):
                packed.check_sizes(path)
            yield TableFile(name, path, kind)
            return
        if depth == _MOST_DEPTH:
            raise UsageError(f"Can't import {name}: it is packed in what is packed, again and again.")
        folder = self._stack.enter_context(temporary_folder("import"))
        for inner_name, place in packed.unpacked(path, kind, folder):
            yield from self._opened(inner_name if depth == 0 else name, place, depth + 1)


def _advice(folder: Path) -> str:
    """Name the folders inside that hold such files: one for each model is what most repositories have."""
    inner = sorted({file.parent.name for file in folder.glob("*/*") if file.suffix.lower() in ENDINGS})
    if not inner:
        return f"Known endings: {', '.join(ENDINGS)}"
    shown = ", ".join(inner[:5]) + (", …" if len(inner) > 5 else "")
    return f"Its folders have files: {shown}. Name one of them, with --model if its files name none."


def _kind_of_zip(path: Path) -> str:
    names = packed.members(path)
    if any(name in _WORKBOOK_PARTS for name in names):
        return "workbook"
    return "eval" if "header.json" in names and any(name.startswith("samples/") for name in names) else "zip"


def _inspect_rows(name: str, path: Path) -> Iterator[Row | Problem]:
    """Yield the samples of a log of Inspect; a damaged one is a problem, and the others are read."""
    packed.check_sizes(path)
    documents = packed.read_members(path, lambda member: member == "header.json" or member.startswith("samples/"))
    header: dict[str, Any] = {}
    for member, content in documents:  # the head comes first in the order of names
        try:
            if isinstance(content, str):
                raise ValueError(f"damaged: {content}")
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            yield Problem(f"{name}/{member}", 1, f"is no JSON ({error})")
            continue
        if member == "header.json":
            header = document if isinstance(document, dict) else {}
        else:
            yield from rows_of_document(f"{name}/{member}", [with_header(header, document)])
