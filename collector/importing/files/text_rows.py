"""Reads files of text record by record: CSV (with commas, semicolons, tabs or bars), and JSON (a record a line, an
array of records, or what wraps one).

The line of a record of CSV is the physical one (counted by line feeds) where it starts: answers and reasoning hold line
ends of their own.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Problem, Row, fault_in, tidy_name, unlike
from slant.collector.importing.files.tool_logs import FailedAnswerError, cells_of, samples_of

# A reasoning text can be long, but a field this large, or a record over this many lines, is a quote left open.
_LONGEST_FIELD = 1 << 24
_MOST_LINES = 20_000
_MOST_COLUMNS = 10_000
_LONGEST_NAME = 10_000
_MOST_COMMENTS = 50
_SEPARATOR = re.compile(r"\"?sep=([,;|\t])\"?", re.IGNORECASE)
_BLOCK_RECORDS, _BLOCK_LETTERS = 200, 1_000_000
_ODD = re.compile(rb'["\0]|\r(?!\n)')
_PLAIN_BYTES = 65_536


class CsvFile:
    """Read a CSV file's records. After a record that is no CSV, reading goes on at the line below its first."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.file = name
        self.stream = stream
        self.line = 0  # physical lines used up by finished records
        self.pending: list[str] = []  # lines read again after a record that is no CSV
        self.record: list[str] = []  # lines of the record being read
        self.delimiter, self.n_skipped = ",", 0
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
        if said := _SEPARATOR.fullmatch(text.strip()):  # which Excel reads and writes
            self.line, self.n_skipped = 1, 1
            text = self.stream.readline().decode("utf-8", "surrogateescape")
        while text.startswith("#") and self.n_skipped < _MOST_COMMENTS:  # "# exported on …"
            below = self.stream.readline().decode("utf-8", "surrogateescape")
            is_note = text.startswith("# ") or not any(sign in text for sign in ",;\t|")
            has_more = any(below.count(sign) > text.count(sign) for sign in ",;\t|")
            if not is_note or not (has_more or below.startswith("#")):
                self.pending.append(below)  # "#" may well name the first column
                break
            self.line, self.n_skipped, text = self.line + 1, self.n_skipped + 1, below
        if "\r" in text.rstrip("\r\n") and not text.endswith("\n"):
            raise UsageError(f"Can't import {self.file}.", "Its lines end as on an old Mac: save it as CSV UTF-8.")
        self.delimiter = said[1] if said else max(",;\t|", key=text.count)
        self.pending.append(text)
        try:
            with _long_fields():
                names: list[str] = next(self._reader(), [])
        except csv.Error as error:
            rule = f"Its first line must name the columns, but: {error}."
            raise UsageError(f"Can't import {self.file}.", rule) from error
        if len(names) > _MOST_COLUMNS:
            rule = f"It must have {_MOST_COLUMNS:,} columns at most, but has {len(names):,}."
            raise UsageError(f"Can't import {self.file}.", rule, "Is it lying on its side? Rows are answers.")
        if not any(names) or fault_in(names) or max(map(len, names)) > _LONGEST_NAME:
            raise UsageError(f"Can't import {self.file}.", "Its first line must name the columns (CSV, UTF-8).")
        self._finish_record()
        return unlike(self.file, [tidy_name(name) for name in names])

    def _reader(self) -> Any:
        return csv.reader(self._lines(), delimiter=self.delimiter, strict=True)

    def _finish_record(self) -> None:
        self.line += len(self.record)
        self.record.clear()

    def __iter__(self) -> Iterator[Row | Problem]:
        self._records = self._reader()
        self._is_over = False
        while not self._is_over:
            plain = None if self.pending else self._plain_block()
            yield from self._block() if plain is None else plain

    def _plain_block(self) -> list[Row | Problem] | None:
        """Return the records of the next lines if none of them has a quote or an odd letter: such lines need only be
        divided. None, and the lines are left to be read with care, if one has."""
        lines = self.stream.readlines(_PLAIN_BYTES)
        text = b"".join(lines)
        try:
            letters = None if _ODD.search(text) or len(text) > _LONGEST_FIELD else text.decode()
        except UnicodeDecodeError:
            letters = None
        if not letters:
            self.pending = [line.decode("utf-8", "surrogateescape") for line in reversed(lines)]
            return None
        block: list[Row | Problem] = []
        first, n_fields = self.line + 1, len(self.header)
        records = letters.removesuffix("\n").split("\n")
        for line, record in enumerate(records, first):
            values = record.removesuffix("\r").split(self.delimiter)
            if len(values) == n_fields and (n_fields > 1 or values[0]):
                if any(values):
                    block.append(Row(self.file, line, dict(zip(self.header, values, strict=True))))
            elif any(values):
                block.append(self._row(line, values))
        self.line += len(records)
        return block

    def _block(self) -> list[Row | Problem]:
        """Return the next records: reading some at once takes a third less time than one by one."""
        block: list[Row | Problem] = []
        n_letters = 0
        with _long_fields():
            while len(block) < _BLOCK_RECORDS and n_letters < _BLOCK_LETTERS:
                start = self.line + 1
                try:
                    values = next(self._records, None)
                except csv.Error as error:
                    block.append(Problem(self.file, start, f"is no CSV record ({error})"))
                    self.pending.extend(reversed(self.record[1:]))
                    del self.record[1:]
                    self._records = self._reader()
                else:
                    if values is None:
                        self._is_over = True
                        break
                    if any(values):
                        block.append(self._row(start, values))
                n_letters += sum(map(len, self.record))
                self._finish_record()
        return block

    def _row(self, line: int, values: list[str]) -> Row | Problem:
        if len(values) != len(self.header):
            return Problem(self.file, line, f"has {len(values)} fields, but the first line names {len(self.header)}")
        is_plain = all(text.isascii() and "\0" not in text for text in self.record)
        if not is_plain and (fault := fault_in(values)):
            return Problem(self.file, line, fault)
        return Row(self.file, line, dict(zip(self.header, values, strict=True)))


@contextmanager
def _long_fields() -> Iterator[None]:
    """Permit long answers. The limit holds for the whole process, so that only files of a user's own raise it."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


_WHOLE = 64_000_000
"""Bytes up to which a file is read at once; a longer array record by record."""
_WRAPPERS = ("data", "rows", "trials", "records", "results", "items", "responses", "samples")

_SHARED = ("model", "model_name", "model_id", "llm", "engine")
"""What an object says of all its records."""
_TOLD = {"answer", "response", "condition", "model", "item", "prompt"}


def line_rows(name: str, path: Path) -> Iterator[Row | Problem]:
    """Yield a file of a record a line; a line may also be an array of records (as JATOS keeps those of jsPsych)."""
    with path.open("rb") as stream:
        if stream.readline().removeprefix(b"\xef\xbb\xbf").strip() in (b"{", b"["):
            yield from document_rows(name, path)  # the first line is no record by itself, whatever the file's name
            return
        stream.seek(0)
        for line, raw in enumerate(stream, start=1):
            text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff").strip()
            if not text:
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                yield Problem(name, line, f"is no JSON ({error})")
                continue
            for each in record if isinstance(record, list) else [record]:
                yield _row(name, line, each)


def document_rows(name: str, path: Path) -> Iterator[Row | Problem]:
    """Yield a file that is one JSON document. UsageError if it has no records."""
    with path.open("rb") as stream:
        is_array = stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    if is_array and path.stat().st_size > _WHOLE:
        yield from _streamed(name, path)
        return
    try:
        document = json.loads(path.read_bytes().decode("utf-8-sig", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        if str(error).startswith("Extra data"):
            yield from line_rows(name, path)
            return
        raise UsageError(f"Can't import {name}: it is no JSON.", str(error)) from error
    yield from rows_of_document(name, document)


def rows_of_document(name: str, document: Any) -> Iterator[Row | Problem]:
    for number, record in enumerate(_records(name, document), start=1):
        yield _row(name, number, record)


def _records(name: str, document: Any) -> Iterable[Any]:
    if isinstance(document, list):
        return [record for part in document for record in part] if _is_of(list, document) else document
    if not isinstance(document, dict):
        kinds: dict[type, str] = {str: "a text", int: "a number", float: "a number", bool: "true or false"}
        raise UsageError(f"Can't import {name}: its JSON is {kinds.get(type(document), 'null')}, not records.")
    if (samples := samples_of(document)) is not None:
        return samples
    if isinstance(document.get("columns"), list) and _is_of(list, document.get("data")):
        return [dict(zip(document["columns"], values, strict=False)) for values in document["data"]]
    if len(document) > 1 and all(_is_of(dict, value) for value in document.values()):
        return [{"key": key, **record} for key, records in document.items() for record in records]
    shared = {key: document[key] for key in _SHARED if isinstance(document.get(key), str)}
    lists = {key: value for key, value in document.items() if isinstance(value, list) and value and _is_of(dict, value)}
    chosen = next((key for key in _WRAPPERS if key in lists), next(iter(lists)) if len(lists) == 1 else None)
    if chosen is not None:
        return [{**shared, **record} for record in lists[chosen]] if shared else lists[chosen]
    columns = list(document.values())
    if len(columns) == 1 and isinstance(columns[0], dict) and next(iter(document)) in _WRAPPERS:
        return _records(name, columns[0])
    if columns and _is_of(list, columns) and len({len(column) for column in columns}) == 1:
        return [dict(zip(document, values, strict=True)) for values in zip(*columns, strict=True)]
    if columns and _is_of(dict, columns) and (all(key.isdigit() for key in document) or _TOLD & set(columns[0])):
        return columns  # an object of records by their number or ID, and not of columns
    if len(columns) > 1 and _is_of(dict, columns) and len({tuple(column) for column in columns}) == 1:
        return [{key: column[row] for key, column in document.items()} for row in columns[0]]
    if "condition" in document or "answer" in document:
        return [document]
    keys = ", ".join(map(str, list(document)[:8]))
    raise UsageError(
        f"Can't import {name}: its JSON is one object, and no list of records in it.",
        f"It has: {keys}. An array of records, or a record a line, can be read.",
    )


def _row(name: str, line: int, record: Any) -> Row | Problem:
    if not isinstance(record, dict):
        return Problem(name, line, "is no JSON object")
    try:
        cells: Mapping[str, Any] = cells_of(record)
    except FailedAnswerError as error:
        return Problem(name, line, str(error))
    except (AttributeError, KeyError, TypeError, IndexError, ValueError):
        cells = record
    if fault := fault_in(cells.values()):
        return Problem(name, line, fault)
    return Row(name, line, {tidy_name(key): value for key, value in cells.items()})


def _streamed(name: str, path: Path) -> Iterator[Row | Problem]:
    import ijson  # only long arrays need it

    number = 0
    with path.open("rb") as stream:
        try:
            for number, record in enumerate(ijson.items(stream, "item", use_float=True), start=1):
                yield _row(name, number, record)
        except ijson.JSONError as error:
            why = str(error).strip().splitlines()[0]
            yield Problem(name, number + 1, f"is no JSON, and nothing after it was read ({why})")


def _is_of(kind: type, values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, kind) for value in values)
