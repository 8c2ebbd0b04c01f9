"""Gives each cell of a merged range in an Excel workbook the range's value, which only the first of them holds."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

_SHEET = re.compile(r"<(?:\w+:)?sheet\s[^<>]{0,2000}>")
_ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
_RELATION = re.compile(r"<Relationship\s[^<>]{0,2000}>")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_CELL = re.compile(rb'<(?:\w+:)?c\s[^<>]{0,200}?\br="([A-Z]{1,3})(\d{1,7})"[^<>/]{0,200}>\s*<(?!/)')
_MOST_CELLS = 1_000_000
_MOST_BYTES = 500_000_000
"""Merged cells of a sheet with more XML, which can be made to fill memory, are left as they are."""

Range = tuple[int, int, int, int]


def filled(path: Path, sheet: str, rows: Sequence[Sequence[Any]]) -> tuple[list[list[Any]], int, set[int]]:
    """Return the rows of a sheet with the value of each merged range in all its cells, how many cells were filled, and
    which rows have ranges that only go over several columns: titles. Rows begin at the first cell that has a value."""
    content = _content(path, sheet)
    ranges = list(_ranges(content)) if b"mergeCell " in content else []
    if not ranges:
        return [list(row) for row in rows], 0, set()
    cells = [(int(match[2]), _number(match[1])) for match in _CELL.finditer(content)]
    if not cells:
        return [list(row) for row in rows], 0, set()
    top, left = min(row for row, _ in cells), min(column for _, column in cells)
    grid = [list(row) for row in rows]
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


def _ranges(content: bytes) -> Iterator[Range]:
    for match in _MERGED.finditer(content):
        yield int(match[2]), _number(match[1]), int(match[4]), _number(match[3])


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
