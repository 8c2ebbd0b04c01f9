"""The files of the views, by name, what their heads say, and their cases: given rows, and the rows expected of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from slant.collector.keep.view_heads import TableInfo, ordered_queries, read_header
from slant.collector.system.shipped_files import sql_dir
from tests.support import TESTS
from tests.support.each_row import each_row
from tests.support.given import fill, fill_variable, in_memory, insert, read_rows

FILES = {re.sub(r"^\d+_", "", file.stem): file for file in sorted(sql_dir().glob("views/*/*.sql"))}
OF_PAPERS = [view for view, file in FILES.items() if file.parent.name == "3_paper"]
CASES = TESTS / "sql"
OF_PRINT = ("printed_numbers", "printed_scopes", "planned_cells")  # views of variables that a comparison sets
every_view = each_row("view", FILES)


def head(view: str) -> TableInfo:
    return read_header(FILES[view].read_text("utf-8"))


def is_ordered(view: str) -> bool:
    return bool(head(view).order) or "ORDER BY" in FILES[view].read_text("utf-8").rpartition("\nFROM")[2]


def check_case(view: str) -> None:
    """The rows that a view's case gives become the rows that it expects."""
    expected = read_rows(CASES / view / "expected.csv")
    assert expected, "a case without expected rows"
    with in_memory() as connection:
        tables = {file.stem: read_rows(file) for file in (CASES / view).glob("*.csv") if file.stem != "expected"}
        compared = tables.pop("compared_calls", [])
        insert(connection, tables.pop("given", []), read_rows_json(CASES / view / "runs.json"))
        for name, rows in tables.items():
            (fill_variable if name in OF_PRINT else fill)(connection, name, rows)
        if compared:
            connection.execute("SET VARIABLE compared_calls = ?", [[row["call_id"] for row in compared]])
        query = ordered_queries().get(view, f"FROM {view}")
        result = connection.execute(query)  # a relation would be bound twice: half of this test's time
        columns = [column[0] for column in result.description]
        if FILES[view].parent.name == "2_tables":
            assert columns == list(expected[0]), "a case of a table names all of its columns, in order"
        found = [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
    if not is_ordered(view):
        found.sort(key=lambda row: [str(row[name]) for name in head(view).grain])
    shown = [[row[name] for name in expected[0]] for row in found]
    assert len(shown) == len(expected)
    for row, wanted in zip(shown, expected, strict=True):
        assert all(map(same, row, wanted.values())), f"{row} is not {list(wanted.values())}"


def same(value: object, text: str | None) -> bool:
    """A number agrees to six digits (hand-made numbers have no more), everything else as text."""
    if value is None or text is None:
        return value is None and text is None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(text) == pytest.approx(value, rel=1e-6, abs=1e-9)
    return (str(value).lower() if isinstance(value, bool) else str(value)) == text


def read_rows_json(file: Path) -> list[dict[str, object]]:
    return list(json.loads(file.read_text("utf-8"))) if file.exists() else []
