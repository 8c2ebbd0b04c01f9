"""Reads CSV (with commas, semicolons, tabs or bars) record by record.

A line is the physical line (counted by line feeds) where a record starts: answers and reasoning hold line ends of
their own.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Problem, Row, fault_in, tidy_name, unlike

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
