"""Answers that rows of one place give again and again: each is read once, and a row adds its counts and numbers.

A million answers to a study with two labels are some thousand different ones. Whatever is odd about a row, and each
answer that is seen for the first time, is left to the reader of single rows (collector/importing/rows.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter, itemgetter
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.importing.layouts import Layout, Row
from slant.collector.importing.layouts.tidy import PLACING, VARYING
from slant.collector.importing.layouts.values import amount, count, text
from slant.collector.importing.row_contents import COUNTS, read_counts
from slant.collector.records import Attempt, Trial
from slant.collector.study.records import StudyModel

_OF_ATTEMPTS = tuple(field.name for field in fields(Attempt))
_values_of = attrgetter(*_OF_ATTEMPTS)
OWN = (
    "sequence", "trial_id", "repetition", "position", "tokens", "token_source", "reasoning_tokens", "output_tokens",
    "reasoning_tokens_recounted", "input_tokens", "cost_usd", "request_id", "response",
)  # fmt: skip
"""What a row of a shared answer has by itself (ANSWER_ROWS in collector/keep/journal_lines.py)."""
_READ_COUNTS = ("tokens", "token_source", *COUNTS[1:])
_OF_ANSWERS = {"answer", "reasoning_text", "option_a_logprob", "option_b_logprob"}
_MAX_ANSWERS, _MAX_COUNTS = 100_000, 100_000
_MAX_LENGTH = 200
"""Characters of an answer; a longer one is seldom given twice."""


def may_be_shared(record: Mapping[str, Any]) -> bool:
    """Return whether other rows are likely to give the same answer."""
    return len(record["answer"] or "") <= _MAX_LENGTH and not record["reasoning_text"]


def record_of(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt as its line in the journal has it; what is unknown is None."""
    return dict(zip(_OF_ATTEMPTS, _values_of(attempt), strict=True))


@dataclass(slots=True)
class Place:
    """Say where a row belongs: what its place adds to its cells, the trial of the plan, its turn (None of a question
    that is asked alone), whether the study knows its word, the hash of its cell, the ids of its repetitions, and
    whether what rows alike share says it (an id of each row's own may name it instead)."""

    added: Mapping[str, Any]
    planned: Trial
    turn: int | None
    is_known: bool
    cell: int
    ids: Callable[[int], str]
    is_stated: bool


@dataclass(slots=True)
class SharedAnswer:
    """Hold an attempt without what is a row's own. `is_label`: the answer is one of the labels, or could be read."""

    record: dict[str, Any]
    is_label: bool


@dataclass(slots=True)
class AnswerPlace:
    """Hold the place of an answer, and the attempt by the repetition's number in the cycle of its design."""

    model: StudyModel
    place: Place
    by_cycle: dict[int, SharedAnswer] = field(default_factory=dict)


def _shared_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that an attempt shares with others of the same answer; its ids, which their rows replace,
    stay."""
    kept = set(_OF_ATTEMPTS) - {*OWN, "attempt_id"} | {"trial_id"}
    return {name: value for name, value in record.items() if value is not None and name in kept}


class AlikeAnswers:
    """Remember answers by all cells that are not a row's own. A number is no text, though they are equal."""

    def __init__(self, study: Study, layout: Layout) -> None:
        self.cycle = study.design.asks.repetition_cycle(study)
        self._is_usable = layout.skips_missing and not study.design.asks.has_turns(study) and self.cycle > 0
        self._varying = VARYING - _OF_ANSWERS - set(study.design.imports.row_columns(study.data))
        self._reads_all = study.design.imports.row_placer(study) is not None
        self._columns: tuple[str, ...] = ()
        self._known: dict[Any, AnswerPlace] = {}
        self._key_of: Callable[[Mapping[str, Any]], Any] = len
        self._counts: dict[Any, tuple[Any, ...]] = {}
        self._counts_of: Callable[[Mapping[str, Any]], Any] = len
        self._has_counts_alone = False

    def find(self, row: Row) -> tuple[Any, AnswerPlace | None]:
        """Return the key of a row, None if there is none for it, and what is known of rows that are alike."""
        if not self._is_usable:
            return None, None
        cells = row.cells
        if (columns := tuple(cells)) != self._columns:
            self._take_columns(columns)
        try:
            key = self._key_of(cells)
            return key, self._known.get(key)
        except TypeError:  # lists and the like
            return None, None

    def keep(self, key: Any, model: StudyModel, place: Place, record: Mapping[str, Any], *, is_label: bool) -> None:
        """Remember the answer of a row, unless it is long, or there are too many."""
        if key in self._known or len(self._known) < _MAX_ANSWERS:
            of_place = self._known.setdefault(key, AnswerPlace(model, place))
            of_place.by_cycle[record["repetition"] % self.cycle] = SharedAnswer(_shared_part(record), is_label)

    def numbers(self, cells: Mapping[str, Any], model: StudyModel) -> tuple[Any, ...]:
        """Return the row's values of `OWN`, from its position to its request; CellError if one can't be read."""
        key = (model.model, self._counts_of(cells))
        counts = self._counts.get(key)
        if counts is None:
            read = read_counts(cells, model)
            counts = tuple(read[name] for name in _READ_COUNTS)
            if len(self._counts) < _MAX_COUNTS:
                self._counts[key] = counts
        if self._has_counts_alone:
            return (None, *counts, None, None, None)
        of_row = (amount(cells.get("cost_usd"), "cost_usd"), text(cells.get("request_id")) or None)
        return (
            count(cells.get("position"), "position"),
            *counts,
            count(cells.get("input_tokens"), "input_tokens"),
            *of_row,
        )

    def _take_columns(self, columns: tuple[str, ...]) -> None:
        """Take the cells of new columns for keys, and forget the rest."""
        self._columns = columns
        self._known.clear()
        self._counts.clear()
        self._key_of = _texts_of(n for n in columns if n not in self._varying and (self._reads_all or n in PLACING))
        self._counts_of = _texts_of(n for n in columns if n in (*COUNTS, "token_source"))
        self._has_counts_alone = {"position", "input_tokens", "cost_usd", "request_id"}.isdisjoint(columns)


def _texts_of(columns: Iterable[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return the function that turns the cells of these columns of a row into a key, in which a number differs from a
    text."""
    named = list(columns)
    if len(named) == 1:
        return lambda cells: _with_types((cells[named[0]],))
    cells_of = itemgetter(*named) if named else lambda cells: ()
    return lambda cells: _with_types(cells_of(cells))


def _with_types(cells: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        "".join(cells)  # the quickest way to see that all are texts
    except TypeError:
        return (cells, *map(type, cells))
    return cells
