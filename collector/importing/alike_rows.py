"""What rows say that differ in counts, numbers and texts alone: it is worked out once for all of them.

In a file of a million answers nearly all rows are alike so. What their attempts have in common is copied from the first
one; what a design reads in an answer, or shows in a repetition, it is asked for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar

from slant.collector.designs.study import Study
from slant.collector.importing.layouts import Layout, Row
from slant.collector.importing.layouts.tidy import PLACING, VARYING
from slant.collector.records import Attempt, Outcome, Reply, Trial
from slant.collector.study.records import StudyModel

_MOST = 100_000
OF_ATTEMPTS = tuple(field.name for field in fields(Attempt))
_values_of = attrgetter(*OF_ATTEMPTS)
_OF_ROWS = frozenset({
    "conversation_id", "trial_id", "repetition", "position", "option_a", "option_b", "expected", "factors", "outcome",
    "answer", "choice", "tokens", "token_source", "reasoning_tokens", "reasoning_tokens_recounted", "output_tokens",
    "input_tokens", "reasoning_text", "request_id", "cost_usd", "response", "option_a_logprob", "option_b_logprob",
    "logprob_kind",
})  # fmt: skip
"""What the attempts of rows that are alike may differ in, besides their number."""


def record_of(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt as its line in the journal has it; what is unknown is None."""
    return dict(zip(OF_ATTEMPTS, _values_of(attempt), strict=True))


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
class Said:
    """Hold what rows say that are alike: their model, their place, the outcome that they state, and their reply without
    what varies. `is_draft`: their cells need no translation. `record` is that of the first, with what all of them have.
    """

    model: StudyModel
    place: Place
    outcome: Outcome | None
    reply: Reply
    is_draft: bool
    record: dict[str, Any]


def of_all(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return of a record what all rows alike have, and room for what each of them has."""
    return {name: value for name, value in record.items() if value is not None or name in _OF_ROWS}


def is_plain(record: Mapping[str, Any], reply: Reply) -> bool:
    """Return whether nothing was cut out of a record that the next one would hold again, or said of this answer."""
    return record["detail"] is None and record["served_model"] == reply.served_model


_K = TypeVar("_K")


class AlikeCells(Generic[_K]):
    """Remember something of rows by the cells that they are alike in: all but those of `varying` columns. A number is
    no text, though they are equal."""

    def __init__(self, study: Study, layout: Layout, varying: frozenset[str]) -> None:
        self.known: dict[Any, _K] = {}
        self.is_usable = layout.skips_missing and not study.design.has_turns(study)
        self._varying = varying - set(study.design.row_columns(study.data))
        self._reads_all = study.design.row_placer(study) is not None
        self._columns: tuple[str, ...] = ()
        self._key_of: Callable[[Mapping[str, Any]], Any] = len

    def find(self, row: Row) -> tuple[Any, _K | None]:
        """Return the key of a row, None if there is none for it, and what is known of rows that are alike."""
        if not self.is_usable:
            return None, None
        cells = row.cells
        if (columns := tuple(cells)) != self._columns:
            self.take_columns(columns)
        try:
            key = self._key_of(cells)
            return key, self.known.get(key)
        except TypeError:  # lists and the like
            return None, None

    def take_columns(self, columns: tuple[str, ...]) -> None:
        """Take the cells of new columns for keys, and forget the rest."""
        self._columns = columns
        self.known.clear()
        self._key_of = texts_of(n for n in columns if n not in self._varying and (self._reads_all or n in PLACING))


class AlikeRows(AlikeCells[Said]):
    """Remember what rows say, by the cells that they are alike in."""

    def __init__(self, study: Study, layout: Layout) -> None:
        super().__init__(study, layout, VARYING)

    def keep(self, key: Any, said: Said) -> None:
        if len(self.known) < _MOST:
            self.known[key] = said


def texts_of(columns: Iterable[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what gives the cells of these columns of a row as a key, in which a number differs from a text."""
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
