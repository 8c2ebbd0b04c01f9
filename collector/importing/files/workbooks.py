"""Reads Excel and OpenDocument workbooks: the values of one sheet, never formulas, links or macros."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slant.collector.errors import UsageError
from slant.collector.importing.files.records import Problem, Row, fault_in, tidy_name, unlike


class Workbook:
    """Hold the first visible sheet with a table, several columns and rows, else the first with cells: many begin with a
    sheet of notes. `remarks` say which it is if there are others."""

    def __init__(self, path: Path, name: str) -> None:
        import fastexcel  # takes a tenth of a second that other files need not wait

        self.remarks: list[str] = []
        try:
            reader = fastexcel.read_excel(path)
            sheets = [reader.load_sheet(number, dtypes="string") for number in range(len(reader.sheet_names))]
            sheets = [sheet for sheet in sheets if sheet.visible == "visible" and sheet.width]
            tables = [sheet for sheet in sheets if sheet.width > 1 and sheet.height]
            sheet = next(iter(tables or sheets), None)
            self._frame = None if sheet is None else sheet.to_polars()
        except (fastexcel.FastExcelError, OSError, ValueError) as error:
            raise UsageError(f"Can't import {name}: the workbook is damaged or locked.", _first(error)) from error
        if sheet is None or self._frame is None:
            raise UsageError(f"Can't import {name}: no visible sheet of the workbook has cells.")
        if len(sheets) > 1:
            which = "the first was read" if sheet is sheets[0] else "the first with a table was read"
            self.remarks.append(f'{name}: of {len(sheets)} sheets {which}, "{sheet.name}"')
        self._name = name
        header = ["" if column.startswith("__UNNAMED__") else tidy_name(column) for column in self._frame.columns]
        self.columns = unlike(name, header)

    def __iter__(self) -> Iterator[Row | Problem]:
        assert self._frame is not None
        for line, values in enumerate(self._frame.iter_rows(), start=2):
            cells: dict[str, Any] = dict(zip(self.columns, values, strict=True))
            if any(value is not None for value in values):
                fault = fault_in(values)
                yield Problem(self._name, line, fault) if fault else Row(self._name, line, cells)


def _first(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
