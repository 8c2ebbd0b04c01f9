"""Reads CSV, JSON lines and Parquet row by row; what can't be read becomes a problem with its line, the rest goes on.

A line is the physical line (counted by line feeds) where a record starts: answers and reasoning hold line ends of
their own. Parquet has no lines; there it is the number of the row.
"""

from __future__ import annotations

import csv
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from slant.collector.errors import UsageError
from slant.collector.study.records import Study

RowCells = Mapping[str, Any]

# A reasoning text can be long, but a field this large, or a record over this many lines, is a quote left open.
_LONGEST_FIELD = 1 << 24
_MOST_LINES = 20_000
_ROWS_AT_ONCE = 20_000  # of Parquet
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Problem:
    """One row that was not imported, and why; `model` is one that is not known, where it is that."""

    file: str
    line: int
    text: str
    model: str | None = None

    def __str__(self) -> str:
        return f"{self.file}, line {self.line:,}: {self.text}"


@dataclass(frozen=True, slots=True)
class Row:
    """One record as the file has it: column name (trimmed, lower case) → value; text everywhere in a CSV."""

    file: str
    line: int
    cells: RowCells


class Layout(ABC):
    """How one kind of file is translated."""

    has_turns = False
    """True where drafts of a study of conversations are of turns, each with its number `turn` and `prompt_as_sent`."""

    @abstractmethod
    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        """Warnings about a file as a whole. UsageError where it can't be of this layout; nothing is written then."""

    @abstractmethod
    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        """The row under the names of collector/importing/layouts/tidy.py. CellError where it can't be read."""

    def grouped(self, study: Study, rows: Iterable[Row | Problem]) -> Iterable[Row | Problem]:
        """One row for each answer, for draft(), of the rows of a file: several may be one answer, or one be several."""
        return rows


def column_names(path: Path) -> list[str]:
    """The columns of a file, trimmed and in lower case. Raises UsageError where there are none to be had."""
    kind = _kind(path)
    if kind == "parquet":
        with _parquet(path) as scan:
            return _unlike(str(path), [_tidy_name(name) for name in scan.collect_schema()])
    with path.open("rb") as stream:
        if kind == "csv":
            return _Csv(path, stream).header
    names: dict[str, None] = {}
    for row in read_rows(path):
        if isinstance(row, Row):
            names.update(dict.fromkeys(row.cells))
    return list(names)


def read_rows(path: Path) -> Iterator[Row | Problem]:
    """The records of a file in its own order; memory does not grow with the file."""
    kind = _kind(path)
    if kind == "parquet":
        yield from _parquet_rows(path)
    else:
        with path.open("rb") as stream:
            yield from _Csv(path, stream) if kind == "csv" else _json_rows(path, stream)


def _kind(path: Path) -> str:
    ending = path.suffix.lower()
    return {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}.get(ending, "csv")


def _tidy_name(name: object) -> str:
    return str(name).removeprefix("\ufeff").strip().lower()


def _unlike(file: str, names: list[str]) -> list[str]:
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice:
        raise UsageError(f"Can't import {file}.", f'Each column must have a name of its own, but two are "{twice}".')
    return names


def _fault(values: Iterable[Any]) -> str | None:
    """Why a record's text can't be kept. Bytes that are not UTF-8 have come in as lone surrogates."""
    for value in values:
        if not isinstance(value, str):
            continue
        if not value.isascii() and (bad := _SURROGATE.search(value)):
            code = ord(bad.group())
            fault = f"a byte that is not UTF-8 (0x{code & 0xFF:02X})" if code >= 0xDC80 else "half of a character"
            return f"holds {fault} after {_shown_end(value[: bad.start()])}" if bad.start() else f"holds {fault}"
        if "\0" in value:
            return "holds a NUL byte"
    return None


def _shown_end(text: str) -> str:
    return f'"{" ".join(text.split())[-20:]}"'


class _Csv:
    """A CSV file's records. After a record that is no CSV, reading goes on at the line below its first."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.file = str(path)
        self.stream = stream
        self.line = 0  # physical lines used up by finished records
        self.pending: list[str] = []  # lines read again after a record that is no CSV
        self.record: list[str] = []  # lines of the record being read
        self.delimiter = ","
        self.header = self._read_header()

    def _lines(self) -> Iterator[str]:
        while True:
            if len(self.record) >= _MOST_LINES:
                raise csv.Error(f"no closing quote within {_MOST_LINES:,} lines")
            raw = self.pending.pop() if self.pending else self.stream.readline().decode("utf-8", "surrogateescape")
            if not raw:
                return
            self.record.append(raw)
            yield raw

    def _read_header(self) -> list[str]:
        first = self.stream.readline()
        if first.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise UsageError(f"Can't import {self.file}.", "It must be UTF-8, but it is UTF-16: save it as CSV UTF-8.")
        text = first.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        self.delimiter = max(",;\t", key=text.count)
        self.pending.append(text)
        try:
            with _long_fields():
                names: list[str] = next(self._reader(), [])
        except csv.Error as error:
            rule = f"Its first line must name the columns, but: {error}."
            raise UsageError(f"Can't import {self.file}.", rule) from error
        if not any(names) or _fault(names):
            raise UsageError(f"Can't import {self.file}.", "Its first line must name the columns (CSV, UTF-8).")
        self._finish_record()
        return _unlike(self.file, [_tidy_name(name) for name in names])

    def _reader(self) -> Any:
        return csv.reader(self._lines(), delimiter=self.delimiter, strict=True)

    def _finish_record(self) -> None:
        self.line += len(self.record)
        self.record.clear()

    def __iter__(self) -> Iterator[Row | Problem]:
        reader = self._reader()
        while True:
            start = self.line + 1
            try:
                with _long_fields():
                    values = next(reader, None)
            except csv.Error as error:
                yield Problem(self.file, start, f"is no CSV record ({error})")
                self.pending.extend(reversed(self.record[1:]))
                del self.record[1:]
                reader = self._reader()
            else:
                if values is None:
                    return
                if values:
                    yield self._row(start, values)
            self._finish_record()

    def _row(self, line: int, values: list[str]) -> Row | Problem:
        if len(values) != len(self.header):
            return Problem(self.file, line, f"has {len(values)} fields, but the first line names {len(self.header)}")
        if fault := _fault(values):
            return Problem(self.file, line, fault)
        return Row(self.file, line, dict(zip(self.header, values, strict=True)))


@contextmanager
def _long_fields() -> Iterator[None]:
    """Answers may be long. The limit is the whole process's: whoever reads what strangers wrote keeps the usual one."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _json_rows(path: Path, stream: BinaryIO) -> Iterator[Row | Problem]:
    for line, raw in enumerate(stream, start=1):
        text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff").strip()
        if text:
            yield _json_row(str(path), line, text)


def _json_row(file: str, line: int, text: str) -> Row | Problem:
    try:
        cells = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Problem(file, line, f"is no JSON ({error})")
    if not isinstance(cells, dict):
        return Problem(file, line, "is no JSON object")
    if fault := _fault(cells.values()):
        return Problem(file, line, fault)
    return Row(file, line, {_tidy_name(name): value for name, value in cells.items()})


@contextmanager
def _parquet(path: Path) -> Iterator[pl.LazyFrame]:
    """This file's rows: no others that its name would match as a pattern, no columns that folders' names would give."""
    try:
        with path.open("rb"):
            yield pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)
    except pl.exceptions.DuplicateError as error:
        raise UsageError(f"Can't import {path}.", f"Each column must have a name of its own, but: {error}.") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise UsageError(f"Can't import {path}.", f"It must be a Parquet file, but: {error}") from error


def _parquet_rows(path: Path) -> Iterator[Row | Problem]:
    with _parquet(path) as scan:
        names = [_tidy_name(name) for name in scan.collect_schema()]
        for start in range(0, scan.select(pl.len()).collect().item(), _ROWS_AT_ONCE):
            for line, values in enumerate(scan.slice(start, _ROWS_AT_ONCE).collect().iter_rows(), start + 1):
                fault = _fault(values)
                yield (
                    Problem(str(path), line, fault)
                    if fault
                    else Row(str(path), line, dict(zip(names, values, strict=True)))
                )
