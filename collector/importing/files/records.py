"""Rows of files, and what can't be read of them; what all kinds of files share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.errors import UsageError

RowCells = Mapping[str, Any]
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Problem:
    """Hold one row that was not imported, and why; `model` is one that is not known, where it is that."""

    file: str
    line: int
    text: str
    model: str | None = None

    def __str__(self) -> str:
        return f"{self.file}, line {self.line:,}: {self.text}"


@dataclass(slots=True)  # made for each row: freezing its fields would take four times as long as setting them
class Row:
    """Hold one record as the file has it: column name (trimmed, lower case) → value; text everywhere in a CSV."""

    file: str
    line: int
    cells: RowCells


def counted(rows: Iterable[Row | Problem], on_rows: Callable[[int], None] | None) -> Iterator[Row | Problem]:
    """Yield the rows, and say from time to time how many have come."""
    for number, row in enumerate(rows, start=1):
        yield row
        if on_rows and number % 500 == 0:
            on_rows(500)


def tidy_name(name: object) -> str:
    """Return the name of a column, trimmed and in lower case."""
    return str(name).removeprefix("\ufeff").strip().lower()


def unlike(file: str, names: list[str]) -> list[str]:
    """Return the names of columns; UsageError if two are the same."""
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            rule = f'Each column must have a name of its own, but two are "{name}".'
            raise UsageError(f"Can't import {file}.", rule)
        seen.add(name)
    return names


def fault_in(values: Iterable[Any]) -> str | None:
    """Return the reason why a record's text can't be stored. Bytes that are not UTF-8 have come in as lone
    surrogates."""
    for value in values:
        if not isinstance(value, str):
            continue
        if not value.isascii() and (bad := _SURROGATE.search(value)):
            code = ord(bad.group())
            fault = f"a byte that is not UTF-8 (0x{code & 0xFF:02X})" if code >= 0xDC80 else "half of a character"
            end = " ".join(value[: bad.start()].split())[-20:]
            return f'holds {fault} after "{end}"' if bad.start() else f"holds {fault}"
        if "\0" in value:
            return "holds a NUL byte"
    return None
