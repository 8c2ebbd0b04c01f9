"""Reads Excel and OpenDocument workbooks: the values of sheets, never formulas, links or macros.

A workbook of 1.5 kB may have two cells and the area between them, which ends the process that makes room for it: how
far apart cells lie is looked at first. Sheets of xlsx are XML and those of xlsb records; the reader itself limits ods
(a hundred million cells), and the format xls. Of a merged range only the first cell holds the value: all are given it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import IO, Any

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Problem, Row, fault_in, tidy_name, unlike
from slant.collector.terminal import count_text

SHEET = "sheet"
"""The column that says which sheet a row is of, where several are read."""
_TITLE_ROWS = 20
"""Rows above the table, of titles and notes, at most."""

_MOST_SPANNED = 50_000_000  # of a sheet from its first cell to its last: the reader takes 32 bytes for each
_PLACED = re.compile(rb"""<(?:\w+:)?(?:c|row)\b[^>]*?\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,9})["']""")
_ROW, _LAST_KIND_OF_CELL = 0, 11
_SHEET = re.compile(r"<(?:\w+:)?sheet\s[^<>]{0,2000}>")
_ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
_RELATION = re.compile(r"<Relationship\s[^<>]{0,2000}>")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_CELL = re.compile(rb'<(?:\w+:)?c\s[^<>]{0,200}?\br="([A-Z]{1,3})(\d{1,7})"[^<>/]{0,200}>\s*<(?!/)')
_MOST_CELLS = 1_000_000
_MOST_BYTES = 500_000_000
"""Merged cells of a sheet with more XML, which can be made to fill memory, are left as they are."""

Cells = Sequence[Any]


@dataclass(frozen=True)
class _Sheet:
    """Hold a sheet's rows of text, and which of them names the columns."""

    name: str
    rows: Sequence[Cells]
    header: int
    n_filled: int

    @property
    def columns(self) -> list[str]:
        return [tidy_name(cell) if cell is not None else "" for cell in self.rows[self.header]]

    @property
    def is_table(self) -> bool:
        return sum(map(bool, self.columns)) > 1 and len(self.rows) > self.header + 1


class Workbook:
    """Hold the first visible sheet with a table, several columns and rows, and the others of the same columns; else the
    first with cells: many begin with a sheet of notes. `remarks` say what was read if there is more."""

    def __init__(self, path: Path, name: str) -> None:
        import fastexcel  # takes a tenth of a second that other files need not wait

        self.remarks: list[str] = []
        try:
            check_dimensions(path, name)
            reader = fastexcel.read_excel(path)
            loaded = [reader.load_sheet(n, header_row=None, dtypes="string") for n in range(len(reader.sheet_names))]
            visible = [sheet for sheet in loaded if sheet.visible == "visible" and sheet.width]
            sheets = [_sheet(sheet.name, sheet.to_polars().rows(), path) for sheet in visible]
        except (fastexcel.FastExcelError, OSError, ValueError, IndexError) as error:
            why = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise UsageError(f"Can't import {name}: the workbook is damaged or locked.", why) from error
        sheets = [sheet for sheet in sheets if sheet.rows]
        first = next(iter([sheet for sheet in sheets if sheet.is_table] or sheets), None)
        if first is None:
            raise UsageError(f"Can't import {name}: no visible sheet of the workbook has cells.")
        self._name = name
        self._sheets = [sheet for sheet in sheets if sheet is first or (sheet.is_table and _are_alike(sheet, first))]
        self.columns = unlike(name, first.columns)
        self._names_sheets = len(self._sheets) > 1 and SHEET not in self.columns
        if self._names_sheets:
            self.columns.append(SHEET)
        self._remark(sheets, first)

    def _remark(self, sheets: Sequence[_Sheet], first: _Sheet) -> None:
        if (n_read := len(self._sheets)) > 1:
            of = f" of {len(sheets)}" if len(sheets) > n_read else ""
            which = (
                f'{n_read}{of} sheets have the same columns: all were read, with their names in the column "{SHEET}"'
            )
            self.remarks.append(f"{self._name}: {which}")
        elif len(sheets) > 1:
            which = "the first was read" if first is sheets[0] else "the first with a table was read"
            self.remarks.append(f'{self._name}: of {len(sheets)} sheets {which}, "{first.name}"')
        if first.header:
            above = count_text(first.header, "row")
            self.remarks.append(f"{self._name}: {above} above the names of the columns left out")
        if n_filled := sum(sheet.n_filled for sheet in self._sheets):
            self.remarks.append(
                f"{self._name}: {count_text(n_filled, 'merged cell')} filled with the value of the first"
            )

    def __iter__(self) -> Iterator[Row | Problem]:
        for sheet in self._sheets:
            own = [sheet.name] if self._names_sheets else []
            for line, values in enumerate(sheet.rows[sheet.header + 1 :], start=sheet.header + 2):
                if any(value is not None for value in values):
                    cells = dict(zip(sheet.columns, values, strict=True)) | dict(zip((SHEET,), own, strict=False))
                    fault = fault_in(values)
                    yield Problem(self._name, line, fault) if fault else Row(self._name, line, cells)


def _sheet(name: str, cells: Sequence[Cells], path: Path) -> _Sheet:
    """Return a sheet with the first row that names nearly all columns; titles have fewer cells, and names of groups of
    columns, too."""
    rows, n_filled, titles = _filled(path, name, cells)
    counts = [sum(cell is not None and str(cell).strip() != "" for cell in row) for row in rows[: 2 * _TITLE_ROWS]]
    width = max(counts, default=0)
    least = min(width, max(2, min(width - 1, -(-3 * width // 4))))
    found = (
        n
        for n, count in enumerate(counts[:_TITLE_ROWS])
        if count >= least and n not in titles and _are_names(rows[n], n)
    )
    return _Sheet(name, rows, next(found, 0), n_filled)


def _are_names(row: Cells, number: int) -> bool:
    """Return whether a row's cells are names of columns; those of the first row are, whatever they are."""
    said = [tidy_name(cell) for cell in row if cell is not None]
    has_numbers = any(text.replace(".", "", 1).removeprefix("-").isdecimal() for text in said)
    return number == 0 or (len(set(said)) == len(said) and not has_numbers)


def _are_alike(sheet: _Sheet, first: _Sheet) -> bool:
    names = [name for name in sheet.columns if name]
    return set(names) == {name for name in first.columns if name} and len(set(names)) == len(names)


def _filled(path: Path, sheet: str, rows: Sequence[Sequence[Any]]) -> tuple[list[list[Any]], int, set[int]]:
    """Return the rows of a sheet with the value of each merged range in all its cells, how many cells were filled, and
    which rows have ranges that only go over several columns: titles. Rows begin at the first cell that has a value."""
    content = _content(path, sheet)
    ranges = [
        (int(row), _number(column), int(last_row), _number(last_column))
        for column, row, last_column, last_row in _MERGED.findall(content)
    ]
    cells = [(int(row), _number(column)) for column, row in _CELL.findall(content)] if ranges else []
    grid = [list(row) for row in rows]
    if not cells:
        return grid, 0, set()
    top, left = min(row for row, _ in cells), min(column for _, column in cells)
    n_filled, titles = 0, set[int]()
    for first_row, first_column, last_row, last_column in ranges:
        row, column = first_row - top, first_column - left
        size = (last_row - first_row + 1) * (last_column - first_column + 1)
        if last_row == first_row:
            titles.add(row)
            continue
        if not (0 <= row < len(grid) and 0 <= column < len(grid[row])) or size > _MOST_CELLS:
            continue
        for place in range(row, min(last_row - top + 1, len(grid))):
            for side in range(column, min(last_column - left + 1, len(grid[place]))):
                if grid[place][side] is None and (value := grid[row][column]) is not None:
                    grid[place][side] = value
                    n_filled += 1
    return grid, n_filled, titles


def _content(path: Path, sheet: str) -> bytes:
    """Return the XML of a sheet; nothing for a workbook of another kind, or one that is not as usual."""
    try:
        with zipfile.ZipFile(path) as archive:
            book = archive.read("xl/workbook.xml").decode("utf-8", "replace")
            relations = archive.read("xl/_rels/workbook.xml.rels").decode("utf-8", "replace")
            targets = {known.get("Id"): known.get("Target", "") for known in _attributes(_RELATION, relations)}
            ids = {unescape(known.get("name", "")): known.get("r:id") for known in _attributes(_SHEET, book)}
            target = targets.get(ids.get(sheet), "")
            if not target:
                return b""
            with archive.open(target.lstrip("/") if target.startswith("/") else f"xl/{target}") as stream:
                content = stream.read(_MOST_BYTES)
            return content if len(content) < _MOST_BYTES else b""
    except (zipfile.BadZipFile, KeyError, OSError, NotImplementedError, RuntimeError):
        return b""


def _attributes(tag: re.Pattern[str], text: str) -> Iterator[dict[str, str]]:
    yield from (dict(_ATTRIBUTE.findall(match[0])) for match in tag.finditer(text))


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def check_dimensions(path: Path, name: str) -> None:
    """Raise UsageError for a sheet whose cells lie so far apart that reading it would end the process."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if not re.fullmatch(r"xl/worksheets/[^/]+\.(?:xml|bin)", member):
                continue
            with archive.open(member) as sheet:
                n_cells = _area(sheet) if member.endswith(".xml") else _area_of_records(sheet)
            if n_cells > _MOST_SPANNED:
                raise UsageError(
                    f"Can't import {name}: a sheet of it spans {n_cells:,} cells, from its first to its last.",
                    f"At most {_MOST_SPANNED:,} can be read. Save what is filled as CSV.",
                )


def _area(sheet: IO[bytes]) -> int:
    rows = columns = 0
    rest = b""
    while chunk := sheet.read(1 << 20):
        text = rest + chunk
        for letters, digits in _PLACED.findall(text):
            rows = max(rows, int(digits))
            columns = max(columns, _number(letters))
        rest = text[-200:]
    return rows * max(columns, 1)


def _area_of_records(sheet: IO[bytes]) -> int:
    rows = columns = 0
    for kind, place in _places(sheet):
        if kind == _ROW:
            rows = max(rows, place + 1)
        else:
            columns = max(columns, place + 1)
    return rows * max(columns, 1)


def _places(sheet: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield of each record that is a row or a cell its kind, and the number of its row or column, from 0."""
    while first := sheet.read(1):
        kind = first[0] if first[0] < 0x80 else first[0] & 0x7F | sheet.read(1)[0] << 7
        n_bytes = shift = 0
        while shift < 28:
            (byte,) = sheet.read(1)
            n_bytes |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        body = sheet.read(n_bytes)
        if kind <= _LAST_KIND_OF_CELL and len(body) >= 4:
            yield kind, int.from_bytes(body[:4], "little")
