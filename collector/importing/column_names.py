"""Names that other people give our columns, by the files in which they do (columns.csv; the first name goes first)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

with (Path(__file__).parent / "columns.csv").open(encoding="utf-8", newline="") as _file:
    _ROWS = list(csv.DictReader(_file))


def names_in(files: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names of each of our columns in files of this kind, in the order of the table."""
    return {row["column"]: tuple(row["names"].split()) for row in _ROWS if row["files"] == files}


def ours_by_name(files: str) -> dict[str, str]:
    """Return slant's column for each name in files of this kind."""
    return {name: ours for ours, names in names_in(files).items() for name in names}


VALUES = {row["column"]: row["values"] for row in _ROWS if row["files"] == "any"}
"""What values a column must have, if its name alone is to tell it."""
