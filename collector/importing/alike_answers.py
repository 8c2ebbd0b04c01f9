"""Answers that rows of one place give again and again: each is read once, and a row adds its counts and numbers.

A million answers to a study with two labels are some thousand different ones. Whatever is odd about a row, and each
answer that is seen for the first time, is left to the reader of single rows (collector/importing/rows.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.importing.alike_rows import OF_ATTEMPTS, AlikeCells, Place, texts_of
from slant.collector.importing.layouts import Layout
from slant.collector.importing.layouts.tidy import VARYING
from slant.collector.importing.layouts.values import amount, count, text
from slant.collector.importing.row_counts import COUNTS, read_counts
from slant.collector.study.records import StudyModel

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


def shared_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an attempt shares with others of the same answer; its ids, which their rows replace, stay."""
    kept = set(OF_ATTEMPTS) - {*OWN, "attempt_id"} | {"trial_id"}
    return {name: value for name, value in record.items() if value is not None and name in kept}


class AlikeAnswers(AlikeCells[AnswerPlace]):
    """Remember answers by all cells that are not a row's own."""

    def __init__(self, study: Study, layout: Layout) -> None:
        super().__init__(study, layout, VARYING - _OF_ANSWERS)
        self.cycle = study.design.repetition_cycle(study)
        self.is_usable = self.is_usable and self.cycle > 0
        self._counts: dict[Any, tuple[Any, ...]] = {}
        self._counts_of: Callable[[Mapping[str, Any]], Any] = len
        self._has_counts_alone = False

    def keep(self, key: Any, model: StudyModel, place: Place, repetition: int, shared: SharedAnswer) -> None:
        """Remember the answer of a row, unless it is long, or there are too many."""
        record = shared.record
        is_short = len(record.get("answer") or "") <= _MAX_LENGTH and not record.get("reasoning_text")
        if is_short and (key in self.known or len(self.known) < _MAX_ANSWERS):
            of_place = self.known.setdefault(key, AnswerPlace(model, place))
            of_place.by_cycle[repetition % self.cycle] = shared

    def numbers(self, cells: Mapping[str, Any], model: StudyModel) -> tuple[Any, ...]:
        """Return what `OWN` names of a row from its position to its request; CellError if one can't be read."""
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

    def take_columns(self, columns: tuple[str, ...]) -> None:
        super().take_columns(columns)
        self._counts.clear()
        self._counts_of = texts_of(n for n in columns if n in (*COUNTS, "token_source"))
        self._has_counts_alone = {"position", "input_tokens", "cost_usd", "request_id"}.isdisjoint(columns)
