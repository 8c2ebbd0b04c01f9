"""The allow-list of an import of people: which columns come in, under which names, and which are left out.

A column comes in if `--map` or `--person` names it, or if it has one of the names below. Everything else in a file
(names, addresses, free text) is dropped before anything is made of the row.

Persons of an import: running numbers in place of ids, and what was asked for of each person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Problem, Row, tidy_name
from slant.collector.importing.files.table_file import IMPORT_ID, TableFile
from slant.collector.importing.layouts.values import CellError, OtherRowError, is_empty, truth, word
from slant.collector.importing.renamed import Names, Plan, names, names_in, pairs
from slant.collector.reading.written_numbers import decimal_mark
from slant.collector.study.crossed_fits import WORDS_OF_R

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


PARTICIPANT, CORRECT = "participant", "correct"
OURS = (
    PARTICIPANT, "test", "condition", "item", "wording", "group", "answer", "repetition", "position", "option_a",
    "option_b", "expected", "response_time_ms", "is_error", "phase", "game", "round", "is_success",
    "page_width_px", "options_direction",
)  # fmt: skip
"""Columns that are taken by their own names."""
_ALIASES = names_in("people")
"""Names that experiments and survey services have for these columns, taken if a file has none of ours."""
_BLOCKS = {"3": "practice", "4": "test", "6": "practice", "7": "test"}
"""The blocks of an Implicit Association Test that are scored, by their numbers; the others are training."""
_LONGEST_SHOWN = 40
PREVIEWS = ("survey preview", "survey test", "spam", "1", "2", "8", "9")
_VALUE = re.compile(r"([^\[\]:]*[^\[\]:\s][^\[\]:]*)(?:\[([^=\]]*[^=\]\s][^=\]]*)=([^\]]+)\])?:(.*\S.*)=(.*\S.*)")


@dataclass
class LeftOut:
    """Hold what of a file did not come in: columns by name, previews of a survey, and rows of unscored blocks."""

    columns: dict[str, None] = field(default_factory=dict)
    previews: int = 0


@dataclass(frozen=True)
class PartValues:
    """Hold the study's words for the values of the column `name` in rows whose column `of` says `said`."""

    name: str
    of: str
    said: str
    values: dict[str, str]


@dataclass(frozen=True)
class PeopleColumns:
    """Hold the columns of an import: those of `--map`, of each person (`--person`), values by other names, and of those
    that are one question's (or another part's) own, by the column and the value that name the part."""

    called: Names
    person: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    of_parts: tuple[PartValues, ...] = ()

    def of_file(self, file: TableFile) -> FileColumns:
        """Return the columns to read in one file. UnknownNameError if it lacks a column that was named."""
        header = file.columns
        unnamed = [name for name in header if name not in self.more]  # the study's own mean something else
        typed = {
            *self.called.columns,
            *self.called.constants,
            *(name for long in self.called.long for name in long[:2]),
        }
        known = {*typed, *header}
        usual = {
            ours: next(name for name in theirs if name in unnamed)
            for ours, theirs in _ALIASES.items()
            if ours not in known and any(name in unnamed for name in theirs)
        }
        theirs = usual | dict(self.called.columns)
        ours = {tidy_name(column): name for name, column in theirs.items()}
        values: dict[str, dict[str, str]] = {}  # by our names of columns, if some are typed by the file's own
        for name, said in self.values.items():
            values.setdefault(name if name in theirs else ours.get(name, name), {}).update(said)
        if usual.get("phase") and "phase" not in values:
            values["phase"] = _BLOCKS
        called = replace(self.called, columns={**usual, **self.called.columns})
        kept = {*OURS, CORRECT, *self.person, *self.more, *typed, *usual}
        called.columns_of(file)  # a named column that is missing is reported before anything is read
        left = [name for name in header if name and name not in kept and name not in called.columns_read(file)]
        is_of_qualtrics = {"responseid", "recordeddate"} <= set(header) or bool(file.header_lines())
        return FileColumns(file, called, frozenset(kept), values, tuple(left), is_of_qualtrics, self.of_parts)

    def __post_init__(self) -> None:
        for name in self.person:
            if name in (*OURS, CORRECT):
                raise UsageError(f'"{name}" belongs to an answer, so it is no column of a person (--person).')


@dataclass(frozen=True)
class FileColumns:
    """Hold one file as an import of people sees it: rows that hold only what was asked for."""

    file: TableFile
    called: Names
    kept: frozenset[str]
    values: Mapping[str, Mapping[str, str]]
    left: tuple[str, ...]
    is_of_qualtrics: bool
    of_parts: tuple[PartValues, ...] = ()
    unmapped: dict[tuple[str, str], None] = field(default_factory=dict)
    """Columns and their values that no `--map-value` names."""

    def rows(self, left_out: LeftOut) -> Iterator[Row | Problem]:
        """Yield the rows, each reduced to its allowed columns; a problem says nothing of what a row holds."""
        left_out.columns |= dict.fromkeys(self.left)
        for row in self._answers(left_out):
            if isinstance(row, Problem):
                yield Problem(row.file, row.line, row.text.partition(" after ")[0])
            else:
                cells = {name: cell for name, cell in row.cells.items() if name in self.kept}
                yield Row(row.file, row.line, cells)

    def _answers(self, left_out: LeftOut) -> Iterator[Row | Problem]:
        """Yield the rows without those of survey services: questions, ids of columns, previews."""
        if not self.is_of_qualtrics:
            yield from self.called.rows(self.file)
            return
        skipped, previews = _rows_of_service(self.file)
        left_out.previews += len(previews)
        yield from (row for row in self.called.rows(self.file) if row.line not in skipped | previews)

    def valued(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        """Return cells with the study's own values; OtherRowError for a row of a part that has none here."""
        ours = dict(cells)
        done = set()
        for part in self.of_parts:
            if (
                word(cells.get(part.of)).casefold() == part.said.casefold()
                and (known := _mapped(part.values, cells.get(part.name))) is not None
            ):
                ours[part.name] = known
                done.add(part.name)
        for name in (self.values.keys() & ours.keys()) - done:
            if is_empty(ours[name]):
                continue
            known = _mapped(self.values[name], ours[name])
            if known is None and name != "phase":  # blocks that are not scored are known to be none
                self.unmapped[name, word(ours[name])[:_LONGEST_SHOWN]] = None
            if known is None and name != "answer":
                raise OtherRowError(f"has another {name}")
            ours[name] = ours[name] if known is None else known
        return ours

    @property
    def header(self) -> list[str]:
        return self.file.columns

    @property
    def has_steps(self) -> bool:
        """Return True if a column is a field inside a field, or counted from 0."""
        return any(field.steps or field.added or field.part for field in self._plan.fields.values())

    @property
    def fields(self) -> dict[str, str]:
        """Return the file's own column of each of ours that is mapped."""
        return {ours: field.column for ours, field in self._plan.fields.items()}

    @property
    def long(self) -> list[tuple[str, str, dict[str, str]]]:
        """Return slant's two names and the columns by item, for columns that become rows."""
        return [(of_item, of_cell, dict(columns)) for of_item, of_cell, columns in self._plan.long]

    @property
    def long_columns(self) -> list[str]:
        return [name for _, _, columns in self.long for name in columns.values()]

    @property
    def _plan(self) -> Plan:
        return self.called.plan(self.file)


def _mapped(values: Mapping[str, str], cell: object) -> str | None:
    """Return the study's word for a cell, which may be written in other capitals than it was typed in."""
    said = word(cell)
    if said in values:
        return values[said]
    return next((ours for theirs, ours in values.items() if theirs.casefold() == said.casefold()), None)


def _rows_of_service(file: TableFile) -> tuple[set[int], set[int]]:
    """Return the lines of a file of Qualtrics that are no answers: its second and third header, and previews."""
    headers, previews = set[int](), set[int]()
    before: list[int] = []
    for number, row in enumerate(file.rows()):
        if isinstance(row, Problem):
            continue
        if number < 2:
            before.append(row.line)
            if any(isinstance(cell, str) and IMPORT_ID.match(cell) for cell in row.cells.values()):
                headers = set(before)
        if row.line not in headers and word(row.cells.get("status")).lower() in PREVIEWS:
            previews.add(row.line)
    return headers, previews


def people_columns(
    columns: Sequence[str], person: Sequence[str], values: Sequence[str], more: Iterable[str] = ()
) -> PeopleColumns:
    """Return the columns that options name: columns as in `--map`, columns of a person (`age_group` or
    `age_group=AGE`), values as in `condition:Good with flowers=compatible`, or `answer[item=rose]:0=Calm` of one item
    alone. UsageError for one that can't be read."""
    own = [part.strip() for text in person for part in text.split(",") if part.strip()]
    named = [tuple(map(str.strip, part.split("=", 1))) if "=" in part else (tidy_name(part),) * 2 for part in own]
    for ours, theirs in named:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", ours) or ours in WORDS_OF_R or not theirs:
            rule = "A name has small letters, digits and underscores, starts with a letter, and is no word of R: "
            rule += "--person age_group=AGE"
            raise UsageError(f'A column of people can\'t be called "{ours}".', rule)
    known: dict[str, dict[str, str]] = {}
    of_parts: dict[tuple[str, str, str], dict[str, str]] = {}
    for text in values:
        said = _VALUE.fullmatch(text.strip())
        if said is None:
            raise UsageError(
                f"--map-value must be COLUMN:THEIRS=OURS, as in condition:1=compatible, but is {text}.",
                "Where each question has values of its own: answer[item=rose]:0=Calm",
            )
        column, of, part, theirs, ours = (each and each.strip() for each in said.groups())
        column = tidy_name(column)
        if of is None:
            known.setdefault(column, {})[theirs] = ours
        else:
            of_parts.setdefault((column, tidy_name(of), part), {})[theirs] = ours
    of_persons = [f"{ours}={theirs}" for ours, theirs in named]
    pairs(of_persons, "--person", "age_group=AGE")
    parts = tuple(PartValues(*of_part, said_there) for of_part, said_there in of_parts.items())
    called = names([*columns, *of_persons])
    return PeopleColumns(called, tuple(dict.fromkeys(o for o, _ in named)), known, tuple(more), parts)


def error_flag(cells: Mapping[str, object]) -> bool | None:
    """Return whether the wrong key was pressed: `is_error`, or the opposite of `correct`."""
    if (is_error := truth(cells.get("is_error"), "is_error")) is not None:
        return is_error
    is_correct = truth(cells.get(CORRECT), CORRECT)
    return None if is_correct is None else not is_correct


def milliseconds(cell: object, decimal: str | None = None) -> float | None:
    """Return a response time; None for an empty cell. CellError for one that is no number from 0 on."""
    said = word(cell)
    if said in ("", "NA", "null", "None"):
        return None
    if decimal == "," and decimal_mark([said]) != ".":  # a program's 812.5 beside what people typed
        said = said.replace(".", "").replace(",", ".")
    try:
        value = float(said)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise CellError("response_time_ms must be a number of milliseconds, 0 or more (with commas: --decimal ,)")
    return value
