"""Persons of an import: running numbers in place of ids, and what was asked for of each person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.errors import UsageError
from slant.collector.importing.files.records import Row
from slant.collector.importing.layouts.values import CellError, is_empty, word

_NUMBERED = r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"
_OF_SIX = r"(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}"
_TRACES: Mapping[str, re.Pattern[str]] = {
    "an e-mail address": re.compile(r"[^\s@]+@[^\s@]+\.[a-z]{2,}", re.IGNORECASE),
    "an IP address": re.compile(f"{_NUMBERED}|{_OF_SIX}", re.IGNORECASE),
    "a telephone number": re.compile(r"(?<!\w)\+\d[\d ()/-]{8,}\d"),
}
_MAX_LENGTH = 100
_FEW = 50
_MAX_SHARE = 0.5


def trace_in(text: str) -> str | None:
    """Return the part of a text that identifies a person, in words; None if nothing is found."""
    return next((what for what, pattern in _TRACES.items() if pattern.search(text)), None)


@dataclass
class Persons:
    """Number the persons of an import from `first` on in the order in which they come; ids are forgotten with it."""

    first: int
    names: Sequence[str]
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    attributes: dict[int, dict[str, str]] = field(default_factory=dict)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _runs: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._numbers)

    def key(self, row: Row) -> tuple[str, str]:
        """Return the person of a row. If no column has it, a file holds one person after another, and counts the trials
        of each from the start again (`trial_index`, as jsPsych does); so every row must be read, in order."""
        said = word(row.cells.get("participant"))
        return ("", said) if said else (row.file, str(self._run(row)))

    def number(self, row: Row, key: tuple[str, str] | None = None) -> int:
        """Return the number of the person of a row (of this `key`): a person is one of whom something is taken."""
        key = key or self.key(row)
        number = self._numbers.setdefault(key, self.first + len(self._numbers))
        if number not in self.attributes:
            self.attributes[number] = {}
        if self.names:
            self._note(number, row.cells)
        return number

    def names_in(self, columns: Iterable[str]) -> list[str]:
        """Return the columns that are attributes of persons."""
        return [name for name in self.names if name in set(columns)]

    def take(self, people: Iterable[Mapping[str, Any]], of_id: str) -> list[int]:
        """Return the numbers of people, each once, and note their attributes. CellError if these contradict."""
        numbers = []
        for person in people:
            number = self._numbers.setdefault(("", person[of_id]), self.first + len(self._numbers))
            self.attributes.setdefault(number, {})
            self._note(number, person)
            numbers.append(number)
        return numbers

    def _run(self, row: Row) -> int:
        place = word(row.cells.get("position"))
        at = int(place) if place.isdecimal() else -1
        number, before = self._runs.get(row.file, (1, -1))
        if at <= before:
            if at < 0:
                raise CellError("doesn't say whose answer it is: map a column to participant (it is not stored)")
            number += 1
        self._runs[row.file] = number, at
        return number

    def _note(self, number: int, cells: Mapping[str, Any]) -> None:
        known = self.attributes[number]
        for name in self.names:
            if is_empty(cell := cells.get(name)):
                continue
            said = word(cell)
            if self.levels.get(name) and said not in self.levels[name]:
                raise CellError(f"has a {name} that is not one of the study's levels")
            if known.setdefault(name, said) != said:
                raise CellError(f"has another {name} of its participant than an earlier row")


def check_attributes(names: Sequence[str], people: Iterable[Mapping[str, str]]) -> None:
    """Raise UsageError if a column of people has what leads to a person: addresses, long texts, a value for nearly
    each."""
    listed = list(people)
    for name in names:
        values = [person[name] for person in listed if name in person]
        different = set(values)
        for value in different:
            if (trace := trace_in(value)) or len(value) > _MAX_LENGTH:
                what = trace or f"texts of more than {_MAX_LENGTH} characters"
                raise UsageError(
                    f'The column of people "{name}" has {what}, so nothing was imported.',
                    "Import only attributes that group people: an age group, a country. Remove this one from --person.",
                )
        if len(different) > max(_FEW, _MAX_SHARE * len(values)):
            raise UsageError(
                f'The column of people "{name}" has {len(different):,} values among {len(values):,} people, '
                "which tells them apart, so nothing was imported.",
                "Group it first (an age group instead of a date of birth), or remove it from --person.",
            )
