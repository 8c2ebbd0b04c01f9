"""What a row says: its trial, its counts, its reply, and the row itself as it is kept.

Rows of one place give the same answers again and again: a million answers to a study with two labels are some thousand
different ones. Each is read once, and a row adds its counts and numbers. Whatever is odd about a row, and each answer
that is seen for the first time, is left to the reader of single rows (collector/importing/rows.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter, itemgetter
from typing import Any, cast, get_args

from slant.collector.ask.attempts import OptionLogprobs
from slant.collector.designs import Design
from slant.collector.designs.people import ImportedTurn, TurnReader
from slant.collector.designs.study import Study
from slant.collector.errors import StudyError
from slant.collector.importing.layouts import Layout, Row
from slant.collector.importing.layouts.tidy import PLACING, VARYING
from slant.collector.importing.layouts.values import (
    CellError,
    amount,
    composed,
    count,
    factors_in,
    is_empty,
    is_missing,
    logprob,
    shown,
    text,
    truth,
    whole_number,
    word,
)
from slant.collector.reading.plain import exact_text
from slant.collector.records import Attempt, LogprobKind, Outcome, ReasoningKind, Reply, TokenSource, Trial
from slant.collector.stable_ids import numbered_ids, stable_id
from slant.collector.study.records import StudyModel
from slant.collector.system.json_text import encoded

COUNTS = ("tokens", "reasoning_tokens", "output_tokens", "reasoning_tokens_recounted")
_COLUMN: dict[TokenSource, str] = {
    "usage": "reasoning_tokens",
    "template": "reasoning_tokens",
    "output": "output_tokens",
    "retokenized": "reasoning_tokens_recounted",
}
_BY_MEASURE: dict[str | None, TokenSource] = {"reasoning": "usage", "output": "output"}
_OPTIONS = ("option_a", "option_b", "expected")
_OUTCOMES = tuple(name for name in get_args(Outcome) if name != "failed")
_REASONING_KINDS = get_args(ReasoningKind)
_OF_LOGPROBS = ("option_a_logprob", "option_b_logprob", "logprob_kind")
_NO_LOGPROBS = OptionLogprobs()


def _one_of(draft: Mapping[str, Any], name: str, known: Sequence[str]) -> Any:
    """Return the cell's word, one of these; None for an empty cell. CellError for another word."""
    if (cell := draft.get(name)) is None:
        return None
    if (said := word(cell)) and said not in known:
        raise CellError(f"{name} must be one of {', '.join(known)}, but is {shown(said)}")
    return said or None


def read_counts(draft: Mapping[str, Any], model: StudyModel) -> dict[str, Any]:
    """Return the four counts and `token_source`, as columns; unknown is None. CellError for what is no count.

    Where a file has `tokens` alone, that is the count which the study analyses for this model; where it has no such
    column, `tokens` is made from the others. An empty cell in a column that is there stays unknown.
    """
    counts: dict[str, Any] = dict.fromkeys(COUNTS)
    for name in COUNTS:
        if name in draft:
            counts[name] = count(draft[name], name)
    source = _token_source(draft, model)
    if "tokens" not in draft:
        source = source or ("usage" if counts["reasoning_tokens"] is not None else "output")
        counts["tokens"] = counts[_COLUMN[source]]
    elif source is not None and counts[_COLUMN[source]] is None:
        counts[_COLUMN[source]] = counts["tokens"]
    counts["token_source"] = source if counts["tokens"] is not None else None
    return counts


def _token_source(draft: Mapping[str, Any], model: StudyModel) -> TokenSource | None:
    if is_empty(draft.get("token_source")):
        return model.token_source or _BY_MEASURE.get(model.measure)
    return cast("TokenSource", _one_of(draft, "token_source", get_args(TokenSource)))


def is_unanswered(answer: Any, trial: Trial) -> bool:
    """Return True for a missing answer: NA is none, unless an option has that name."""
    return is_missing(answer) and (answer is None or answer != answer or answer not in (trial.option_a, trial.option_b))


def given_outcome(draft: Mapping[str, Any]) -> Outcome | None:
    return cast("Outcome | None", _one_of(draft, "outcome", _OUTCOMES))


def reply_of(draft: Mapping[str, Any], counts: Mapping[str, Any]) -> Reply:
    """Return the reply of a row. An empty answer stays '' (a CSV can't tell it from an unknown one); all other empty
    texts are unknown.
    """
    said = draft.get("answer")
    return Reply(
        answer=exact_text(said) if type(said) is float and said == said else text(said),
        output_tokens=counts["output_tokens"],
        reasoning_tokens=counts["reasoning_tokens"],
        input_tokens=count(draft.get("input_tokens"), "input_tokens"),
        reasoning_text=text(draft.get("reasoning_text")) or None,
        reasoning_kind=_one_of(draft, "reasoning_kind", _REASONING_KINDS),
        detail=text(draft.get("detail")) or None,
        finish_reason=text(draft.get("finish_reason")) or None,
        served_model=text(draft.get("served_model")) or None,
        fingerprint=text(draft.get("fingerprint")) or None,
        request_id=text(draft.get("request_id")) or None,
    )


def option_logprobs(draft: Mapping[str, Any]) -> OptionLogprobs:
    """Return the log-probabilities of the two options, and how far they can be trusted; nothing says so without
    a kind.
    """
    if draft.keys().isdisjoint(_OF_LOGPROBS):  # of nearly every file, and a million rows are looked at
        return _NO_LOGPROBS
    of_a, of_b = (logprob(draft.get(name), name) for name in _OF_LOGPROBS[:2])
    kind = _one_of(draft, "logprob_kind", get_args(LogprobKind))
    if not kind and (of_a is not None or of_b is not None):
        raise CellError(f"logprob_kind is needed with log-probabilities: {' or '.join(get_args(LogprobKind))}")
    return OptionLogprobs(of_a, of_b, kind)


def kept_row(row: Row, draft: Mapping[str, Any]) -> str:
    """Return the row as the file has it, as JSON, but for the long texts that have columns of their own."""
    long = [value for value in (draft.get("reasoning_text"), draft.get("answer")) if value]
    cells = {name: cell for name, cell in row.cells.items() if cell not in long}
    cells.pop("request", None)
    cells.pop("response", None)
    kept = {"file": row.file, "line": row.line, "row": cells}
    try:
        return encoded(kept).decode()
    except TypeError:  # of Parquet: a type that JSON has not
        return json.dumps(kept, ensure_ascii=False, default=str)


def with_options(
    design: Design, planned: Trial, draft: Mapping[str, Any], repetition: int, trial_id: str | None = None
) -> Trial:
    """Return the trial itself. Its id does not depend on the file, its order, or the study's version: twice is once."""
    draft_factors = factors_in(draft.get("factors"))
    trial = planned.copy()
    trial.trial_id = trial_id or numbered_ids(*parts_of_id(planned))(repetition)
    trial.repetition = repetition
    trial.position = count(draft.get("position"), "position")
    if not draft.keys().isdisjoint(_OPTIONS):
        ours = (planned.option_a, planned.option_b, planned.expected)
        trial.option_a = _option(draft.get("option_a"), ours) or planned.option_a
        trial.option_b = _option(draft.get("option_b"), ours) or planned.option_b
        trial.expected = _option(draft.get("expected"), ours) or planned.expected
    if draft_factors is not None:
        trial.factors = draft_factors
    try:
        trial = design.imports.as_imported(planned, trial, draft)
    except StudyError as error:
        raise CellError(error.what) from None
    are_options = trial.option_a is not None or trial.expected is not None
    is_expected = trial.expected in (None, trial.option_a, trial.option_b)
    if (are_options and trial.option_a == trial.option_b) or not is_expected:
        options = f"{shown(trial.option_a)} and {shown(trial.option_b)}"
        raise CellError(f"options {options} with {shown(trial.expected)} expected can't be")
    if trial.factors.get("structured_output"):  # only where it is so: the ids of what was imported before stay
        return replace(trial, trial_id=stable_id(*parts_of_id(trial), trial.repetition, "structured_output"))
    return trial


def _option(value: Any, ours: tuple[str | None, ...]) -> str | None:
    """Return an option as the row has it; the study's own text where they differ in how Unicode writes their
    letters.
    """
    option = text(value)
    if option is None or option in ours:
        return option
    return next((our for our in ours if our is not None and composed(our) == composed(option)), option)


def parts_of_id(trial: Trial) -> tuple[Any, ...]:
    cell = (trial.test, trial.item, trial.group, trial.wording, trial.condition)
    return (trial.study, "imported", trial.variant, trial.model, *cell)


class GameRows:
    """Hold the games of an import; those of which no row says which one they are are numbered as they come."""

    def __init__(self, study: Study, design: Design) -> None:
        self._study, self._design = study, design
        self._readers: dict[str, TurnReader | None] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._counts: dict[str, int] = {}

    def trial_of(self, draft: Mapping[str, Any], model: StudyModel) -> tuple[str, Trial, int | None, bool] | None:
        """Return the conversation, the trial, its turn, and that it is known; None of a design whose plan knows its
        trials.
        """
        if model.model not in self._readers:
            self._readers[model.model] = self._design.imports.imported_turns(self._study, model)
        reader = self._readers[model.model]
        if reader is None:
            return None
        game = word(draft.get("game"))
        round_no = None if is_empty(draft.get("round")) else whole_number(draft["round"], "round", 1)
        row = ImportedTurn(
            test=word(draft.get("test")),
            condition=word(draft.get("condition")),
            item=word(draft.get("item")),
            group=word(draft.get("group")),
            game=game,
            number=self._number(draft, model.model, game),
            round=round_no,
            factors=factors_in(draft.get("factors")) or {},
            is_success=truth(draft.get("is_success"), "is_success"),
        )
        try:
            conversation, trial = reader(row)
        except StudyError as error:
            raise CellError(error.what) from None
        return conversation, trial, round_no or 1, True

    def _number(self, draft: Mapping[str, Any], model: str, game: str) -> int:
        if not is_empty(draft.get("repetition")):
            return whole_number(draft["repetition"], "repetition", 1)
        if (model, game) not in self._numbers:
            self._counts[model] = self._counts.get(model, 0) + 1
            self._numbers[model, game] = self._counts[model]
        return self._numbers[model, game]


_OF_ATTEMPTS = tuple(field.name for field in fields(Attempt))
_values_of = attrgetter(*_OF_ATTEMPTS)
OWN = (
    "sequence", "trial_id", "repetition", "position", "tokens", "token_source", "reasoning_tokens", "output_tokens",
    "reasoning_tokens_recounted", "input_tokens", "cost_usd", "request_id", "response",
)  # fmt: skip
"""What a row of a shared answer has by itself (_insert_answers() in collector/keep/journal_lines.py)."""
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
            self._columns = columns
            self._known.clear()
            self._counts.clear()
            self._key_of = _texts_of(n for n in columns if n not in self._varying and (self._reads_all or n in PLACING))
            self._counts_of = _texts_of(n for n in columns if n in (*COUNTS, "token_source"))
            self._has_counts_alone = {"position", "input_tokens", "cost_usd", "request_id"}.isdisjoint(columns)
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
