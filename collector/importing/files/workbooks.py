"""Reads Excel and OpenDocument workbooks: the values of sheets, never formulas, links or macros."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.errors import UsageError
from slant.collector.importing.files.merged_cells import filled
from slant.collector.importing.files.records import Problem, Row, fault_in, tidy_name, unlike
from slant.collector.importing.files.sheet_areas import check_dimensions
from slant.collector.terminal import count_text

SHEET = "sheet"
"""The column that says which sheet a row is of, where several are read."""
_TITLE_ROWS = 20
"""Rows above the table, of titles and notes, at most."""

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
            raise UsageError(f"Can't import {name}: the workbook is damaged or locked.", _first(error)) from error
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
    rows, n_filled, titles = filled(path, name, cells)
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
    return number == 0 or (len(set(said)) == len(said) and not any(_is_number(cell) for cell in said))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdecimal()


def _are_alike(sheet: _Sheet, first: _Sheet) -> bool:
    names = [name for name in sheet.columns if name]
    return set(names) == {name for name in first.columns if name} and len(set(names)) == len(names)


def _first(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
