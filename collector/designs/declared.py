"""Declare a design's words and report tables, for tables, checks and reports, and what a person fills in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """Name the parts of a design for readers: its `answers`, a `condition`, an `option` to choose, a `test`; `measured`
    is what is analysed of each answer (the dependent variable), empty if that can't be said of all its studies."""

    answers: str = "answers"
    condition: str = "condition"
    option: str = "option"
    test: str = "test"
    measured: str = ""


@dataclass(frozen=True)
class ReportPart:
    """Define one group of tables in a report: the rows of these views unchanged, under one title, after `texts`.

    `name` is its anchor, and unique in a report. Without rows in any of its views, a report leaves the group out.
    """

    name: str
    title: str
    views: tuple[str, ...]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedField:
    """Define one answer that a trial wants: `options` as (what is stored, what is shown), or a typed answer of a `kind`
    (text or number) if there are none. `label` says which of several it is."""

    name: str
    label: str = ""
    options: tuple[tuple[str, str], ...] = ()
    kind: str = "text"
