"""The table of checks, checks.csv: what each of them asks and what a page shows of its rows.

Columns: `design` (`mixed_model`: every design that is not named, where its study has one), `check`, `rows` (what these
hold), `question` (none if the finding of another check speaks of its rows), `columns` of its rows that are shown,
`needs` (the checks whose rows its finding reads, if not its own alone), `kept_by` (the command that makes its rows,
where a check only reads what is kept). Several values of a cell stand apart by a space.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

MIXED_MODEL = "mixed_model"
_FILE = Path(__file__).with_name("checks.csv")


@dataclass(frozen=True)
class CheckInfo:
    """One row of the table. needs: at least one check. kept_by: "" where the check itself makes its rows."""

    check: str
    question: str
    columns: tuple[str, ...]
    needs: tuple[str, ...]
    kept_by: str


@functools.cache
def checks_of(design: str) -> tuple[CheckInfo, ...]:
    """Return the checks of a design, in the order of the page."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    name = design if any(row["design"] == design for row in rows) else MIXED_MODEL
    return tuple(
        CheckInfo(
            row["check"],
            row["question"],
            tuple(row["columns"].split()),
            tuple((row["needs"] or row["check"]).split()),
            row["kept_by"],
        )
        for row in rows
        if row["design"] == name
    )
