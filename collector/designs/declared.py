"""What a design says of itself to tables, checks and reports: its words, and the tables that a report shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """What readers call the parts of a design: its `answers`, a `condition`, an `option` to choose."""

    answers: str = "answers"
    condition: str = "condition"
    option: str = "option"


@dataclass(frozen=True)
class ReportPart:
    """One group of tables in a report: the rows of these views as they are, under one title, after `texts`.

    `name` is its anchor, and unique in a report. Without rows in any of its views, a report leaves the group out.
    """

    name: str
    title: str
    views: tuple[str, ...]
    texts: tuple[str, ...] = ()
