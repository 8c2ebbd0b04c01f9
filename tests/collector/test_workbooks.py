"""Workbooks as people keep them: titles above the table, merged cells, a sheet for each model, blank lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openpyxl import Workbook

from slant.collector.importing.files.kinds import Row
from slant.collector.importing.files.table_file import TableFiles
from slant.collector.importing.proposals.proposal import propose_study

HEADER = ("model", "name", "rating")
RATED = [("gpt-4o", name, rating) for name in ("Emily", "Greg", "Zoë") for rating in (3, 5)]


def _saved(path: Path, *sheets: tuple[str, list[Any]]) -> Workbook:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return book


def _read(path: Path) -> tuple[list[tuple[str | None, ...]], list[str]]:
    with TableFiles([path]) as files:
        columns = files[0].columns
        rows = [tuple(row.cells.get(name) for name in columns) for row in files[0].rows() if isinstance(row, Row)]
        return [tuple(columns), *rows], files[0].remarks


def test_rows_of_titles_above_the_table_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "titled.xlsx"
    _saved(path, ("Data", [("Ratings, spring 2026",), (), HEADER, *RATED]))
    rows, remarks = _read(path)
    assert rows[:2] == [HEADER, ("gpt-4o", "Emily", "3")]
    assert remarks == [f"{path}: 2 rows above the names of the columns left out"]


def test_names_of_groups_of_columns_name_none(tmp_path: Path) -> None:
    path = tmp_path / "grouped.xlsx"
    book = _saved(path, ("Data", [("Shown", None, "Answered"), ("name", "job", "rating"), ("Emily", "nurse", 4)]))
    book["Data"].merge_cells("A1:B1")
    book.save(path)
    assert _read(path)[0] == [("name", "job", "rating"), ("Emily", "nurse", "4")]


def test_a_merged_cell_holds_for_all_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "merged.xlsx"
    book = _saved(path, ("Data", [HEADER, ("gpt-4o", "Emily", 3), (None, None, 5), (None, "Greg", 4)]))
    book["Data"].merge_cells("A2:A4")
    book["Data"].merge_cells("B2:B3")
    book.save(path)
    rows, remarks = _read(path)
    assert rows[1:] == [("gpt-4o", "Emily", "3"), ("gpt-4o", "Emily", "5"), ("gpt-4o", "Greg", "4")]
    assert remarks == [f"{path}: 3 merged cells filled with the value of the first"]


def test_sheets_of_the_same_columns_are_read_together(tmp_path: Path) -> None:
    path = tmp_path / "by_model.xlsx"
    ratings = [HEADER[1:], *(row[1:] for row in RATED)]
    _saved(path, ("Notes", [("by our lab",)]), ("gpt-4o", ratings), ("claude-3-5-sonnet", ratings))
    rows, _ = _read(path)
    assert (len(rows), rows[0], rows[-1]) == (13, ("name", "rating", "sheet"), ("Zoë", "5", "claude-3-5-sonnet"))
    proposed = propose_study([path])
    assert "model: sheet" in proposed.taken
    assert f"{path}: 2 of 3 sheets have the same columns" in proposed.remarks[0]


def test_lines_of_separators_alone_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("model,name,rating,,\ngpt-4o,Emily,3,,\n,,,,\n,,,,\n")
    assert len(_read(path)[0]) == 2
