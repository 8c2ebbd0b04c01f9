"""How far apart the cells of a workbook's sheets lie, looked at before it is read.

A workbook of 1.5 kB may have two cells and the area between them, which ends the process that makes room for it. Sheets
of xlsx are XML and those of xlsb records; the reader itself limits ods (a hundred million cells), and the format xls.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from slant.collector.errors import UsageError

_MOST_CELLS = 50_000_000  # of a sheet from its first cell to its last: the reader takes 32 bytes for each
_CELL = re.compile(rb"""<(?:\w+:)?(?:c|row)\b[^>]*?\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,9})["']""")
_ROW, _LAST_KIND_OF_CELL = 0, 11


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
            if n_cells > _MOST_CELLS:
                raise UsageError(
                    f"Can't import {name}: a sheet of it spans {n_cells:,} cells, from its first to its last.",
                    f"At most {_MOST_CELLS:,} can be read. Save what is filled as CSV.",
                )


def _area(sheet: IO[bytes]) -> int:
    rows = columns = 0
    rest = b""
    while chunk := sheet.read(1 << 20):
        text = rest + chunk
        for letters, digits in _CELL.findall(text):
            rows = max(rows, int(digits))
            number = 0
            for letter in letters:
                number = 26 * number + letter - 64
            columns = max(columns, number)
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
