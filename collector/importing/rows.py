"""From a file's row to an attempt: its place in the study, its counts, and the design's own reading of its answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from slant.collector.ask.attempts import AttemptMaker, AttemptPlace, Measures
from slant.collector.ask.option_logprobs import OptionLogprobs
from slant.collector.designs import Design, design_named
from slant.collector.errors import StudyError, UsageError
from slant.collector.importing.layouts import Layout, Row
from slant.collector.importing.layouts.cells import PlannedCells
from slant.collector.importing.layouts.values import (
    CellError,
    UnknownModelError,
    amount,
    count,
    is_empty,
    logprob,
    one_line,
    shown,
    text,
    whole_number,
    word,
)
from slant.collector.importing.renamed import Names
from slant.collector.providers.exchange import Exchange
from slant.collector.records import (
    Attempt,
    LogprobKind,
    Outcome,
    Reading,
    ReasoningKind,
    Reply,
    Run,
    TokenSource,
    Trial,
    stable_id,
)
from slant.collector.study.records import Study, StudyModel

_OUTCOMES = tuple(name for name in get_args(Outcome) if name != "failed")
_SHOWN_WORDS = 20


@dataclass
class FileNotes:
    """What was odd about the rows of one file, told once at its end instead of once a row."""

    unknown_words: dict[str, dict[str, None]] = field(default_factory=dict)
    without_tokens: int = 0
    without_source: int = 0
    rows: int = 0
    labels: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    rows_seen: set[str] = field(default_factory=set)
    repeats: int = 0
    copies: int = 0

    def warnings(self, file: str) -> list[str]:
        sentences = []
        if self.unknown_words:
            listed = "; ".join(f"in {test} {_listed(list(words))}" for test, words in self.unknown_words.items())
            sentences.append(f"{file}: words that the study doesn't have were taken: {listed}")
        if self.without_tokens:
            rows = _rows(self.without_tokens, "has", "have")
            sentences.append(f"{file}: {rows} no token count; it stays unknown, not 0")
        if self.without_source:
            rows = _rows(self.without_source, "doesn't", "don't")
            sentences.append(f"{file}: {rows} say what the tokens count (column token_source)")
        if self.repeats:
            rows = _rows(self.repeats, "asks", "ask")
            sentences.append(
                f"{file}: {rows} what an earlier row asked, with another answer: taken as further "
                "repetitions (a column repetition would number them)"
            )
        if self.copies:
            rows = _rows(self.copies, "asks", "ask")
            sentences.append(
                f"{file}: {rows} what an earlier row asked and is its exact copy, cell by cell: taken as "
                "further repetitions; take out what was written twice"
            )
        if self.rows >= 20 and not self.labels:
            sentences.append(
                f"{file}: not one answer is one of the two labels as this model sees them; is --model right?"
            )
        return sentences


class RowReader:
    """Makes attempts of rows, file by file. `model` is the model of all rows; None where each row names its own."""

    def __init__(
        self, study: Study, layout: Layout, run: Run, model: StudyModel | None, called: Names | None = None
    ) -> None:
        self.notes = FileNotes()
        self._study, self._layout, self._run, self._model = study, layout, run, model
        self._design = design_named(study.design)
        self._called = called or Names()
        self._cells: dict[str, PlannedCells] = {}
        self._maker = AttemptMaker(run, ())

    def attempt(self, row: Row) -> Attempt:
        """Raises CellError where the row can't be read; nothing of it is kept then."""
        draft = self._layout.draft(self._study, row)
        model = self._model_of(draft)
        if model.model not in self._cells:
            self._cells[model.model] = PlannedCells(self._study, model)
        turn = draft["turn"] if self._layout.has_turns and "turn" in draft else None
        planned, is_known = self._cells[model.model].find(draft, turn or 1)
        repetition = self._repetition(draft, planned)  # counted before the rest, so that mending a row moves no other
        trial = with_options(self._design, planned, draft, repetition)
        trial = replace(trial, position=count(draft.get("position"), "position"))
        if turn is not None:
            trial = replace(trial, game=trial.trial_id, round=turn, trial_id=stable_id(trial.trial_id, turn))
            _check_prompt(self._design.text(self._study, model, trial), draft["prompt_as_sent"])
        counts = read_counts(draft, model)
        reply = _reply(draft, counts)
        reading = self._design.read(self._study, trial, replace(reply, outcome=_given_outcome(draft)))
        measures = Measures(
            counts["tokens"], counts["token_source"], counts["reasoning_tokens_recounted"], _logprobs(draft)
        )
        cost_usd = amount(draft.get("cost_usd"), "cost_usd")
        conversation = trial.game or trial.trial_id
        place = AttemptPlace(conversation, turn or 1, 1, is_final=True, prompt_hash=None, body=None, cost_usd=cost_usd)
        self._note(trial, is_known, counts, reply, reading)
        return self._maker.make(model, trial, place, Exchange(body=_kept(row, draft)), reply, reading, measures)

    def end_of_file(self, file: str) -> list[str]:
        """The warnings about a file; what is counted within a file starts anew."""
        warnings = self.notes.warnings(file)
        self.notes = FileNotes()
        return warnings

    def _model_of(self, draft: Mapping[str, Any]) -> StudyModel:
        name = self._called.model(word(draft.get("model")))
        if self._model is None:
            try:
                return model_named(self._study, name)
            except UsageError as error:
                raise UnknownModelError(error.what, name) from None
        if name and name != self._model.model:
            raise CellError(f"model is {shown(name)}, but --model says {self._model.model}")
        return self._model

    def _repetition(self, draft: Mapping[str, Any], planned: Trial) -> int:
        if not is_empty(draft.get("repetition")):
            return whole_number(draft["repetition"], "repetition", 1)
        cell = stable_id(planned.model, planned.test, planned.condition, planned.item, planned.wording)
        content = stable_id(cell, sorted((name, str(value)) for name, value in draft.items()))
        self.notes.seen[cell] += 1
        if self.notes.seen[cell] > 1:
            is_copy = content in self.notes.rows_seen
            self.notes.copies += is_copy
            self.notes.repeats += not is_copy
        self.notes.rows_seen.add(content)
        return self.notes.seen[cell]

    def _note(self, trial: Trial, is_known: bool, counts: Mapping[str, Any], reply: Reply, reading: Reading) -> None:
        self.notes.rows += 1
        is_label = reply.answer in (trial.option_a, trial.option_b) or reading.spelled is not None
        self.notes.labels += is_label or (trial.expected is None and reading.outcome == "answered")
        if self._design.analyses_tokens:
            self.notes.without_tokens += counts["tokens"] is None
            self.notes.without_source += counts["tokens"] is not None and counts["token_source"] is None
        if not is_known:
            self.notes.unknown_words.setdefault(trial.test, {})[trial.item] = None


def _check_prompt(asked: str, sent: str | None) -> None:
    """The wording has a name in the file, but whether it is the study's own is told by its text alone."""
    ours, theirs = one_line(asked), one_line(sent or "")
    if ours != theirs:
        same = next((n for n, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), 0)
        raise CellError(
            f"another prompt was sent than the study's: {shown(theirs[max(0, same - 20) :])} "
            f"where that has {shown(ours[max(0, same - 20) :])}"
        )


def _rows(number: int, of_one: str, of_many: str) -> str:
    return f"1 row {of_one}" if number == 1 else f"{number:,} rows {of_many}"


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _SHOWN_WORDS} more" if len(words) > _SHOWN_WORDS else ""
    return ", ".join(words[:_SHOWN_WORDS]) + more


def model_named(study: Study, name: str) -> StudyModel:
    """The model that imported rows are of; UsageError for an unknown or a simulated one."""
    if name.startswith("simulated/"):
        raise UsageError(f'Rows of "{name}" can\'t be imported: an import would make them look like real answers.')
    return study.model(name)


def _given_outcome(draft: Mapping[str, Any]) -> Outcome | None:
    outcome = word(draft.get("outcome"))
    if outcome and outcome not in _OUTCOMES:
        raise CellError(f"outcome must be one of {', '.join(_OUTCOMES)}, but is {shown(outcome)}")
    return cast(Outcome, outcome) if outcome else None


def _reply(draft: Mapping[str, Any], counts: Mapping[str, Any]) -> Reply:
    """An empty answer stays '' (a CSV can't tell it from an unknown one); every other empty text is unknown."""
    return Reply(
        answer=text(draft.get("answer")),
        output_tokens=counts["output_tokens"],
        reasoning_tokens=counts["reasoning_tokens"],
        input_tokens=count(draft.get("input_tokens"), "input_tokens"),
        reasoning_text=text(draft.get("reasoning_text")) or None,
        reasoning_kind=_reasoning_kind(draft),
        detail=text(draft.get("detail")) or None,
        finish_reason=text(draft.get("finish_reason")) or None,
        served_model=text(draft.get("served_model")) or None,
        fingerprint=text(draft.get("fingerprint")) or None,
        request_id=text(draft.get("request_id")) or None,
    )


def _reasoning_kind(draft: Mapping[str, Any]) -> ReasoningKind | None:
    kind = word(draft.get("reasoning_kind"))
    if kind and kind not in get_args(ReasoningKind):
        raise CellError(f"reasoning_kind must be one of {', '.join(get_args(ReasoningKind))}, but is {shown(kind)}")
    return cast(ReasoningKind, kind) if kind else None


def _logprobs(draft: Mapping[str, Any]) -> OptionLogprobs:
    """The log-probabilities of the two options, and how far they can be trusted; nothing says so without a kind."""
    of_a, of_b = (logprob(draft.get(name), name) for name in ("option_a_logprob", "option_b_logprob"))
    kind = word(draft.get("logprob_kind"))
    if kind and kind not in get_args(LogprobKind):
        raise CellError(f"logprob_kind must be one of {', '.join(get_args(LogprobKind))}, but is {shown(kind)}")
    if not kind and (of_a is not None or of_b is not None):
        raise CellError(f"logprob_kind is needed beside log-probabilities: {' or '.join(get_args(LogprobKind))}")
    return OptionLogprobs(of_a, of_b, cast(LogprobKind, kind) if kind else None)


def _kept(row: Row, draft: Mapping[str, Any]) -> str:
    """The row as the file has it, as JSON, but for the long texts that have columns of their own."""
    long = [value for value in (draft.get("reasoning_text"), draft.get("answer")) if value]
    cells = {name: cell for name, cell in row.cells.items() if cell not in long and name not in ("request", "response")}
    return json.dumps({"file": row.file, "line": row.line, "row": cells}, ensure_ascii=False, default=str)


COUNTS = ("tokens", "reasoning_tokens", "output_tokens", "reasoning_tokens_recounted")
_COLUMN: dict[TokenSource, str] = {
    "usage": "reasoning_tokens",
    "template": "reasoning_tokens",
    "output": "output_tokens",
    "retokenized": "reasoning_tokens_recounted",
}
_BY_MEASURE: dict[str | None, TokenSource] = {"reasoning": "usage", "output": "output"}


def read_counts(draft: Mapping[str, Any], model: StudyModel) -> dict[str, Any]:
    """The four counts and `token_source`, as columns; unknown is None. CellError for what is no count.

    Where a file has `tokens` alone, that is the count which the study analyses for this model; where it has no such
    column, `tokens` is made from the others. An empty cell in a column that is there stays unknown.
    """
    counts: dict[str, Any] = {name: count(draft.get(name), name) for name in COUNTS}
    source = _token_source(draft, model)
    if "tokens" not in draft:
        source = source or ("usage" if counts["reasoning_tokens"] is not None else "output")
        counts["tokens"] = counts[_COLUMN[source]]
    elif source is not None and counts[_COLUMN[source]] is None:
        counts[_COLUMN[source]] = counts["tokens"]
    return counts | {"token_source": source if counts["tokens"] is not None else None}


def _token_source(draft: Mapping[str, Any], model: StudyModel) -> TokenSource | None:
    token_source = draft.get("token_source")
    if is_empty(token_source):
        return model.token_source or _BY_MEASURE.get(model.measure)
    if word(token_source) not in get_args(TokenSource):
        raise CellError(f"token_source must be one of {', '.join(get_args(TokenSource))}, but is {shown(token_source)}")
    return cast(TokenSource, word(token_source))


def with_options(design: Design, planned: Trial, draft: Mapping[str, Any], repetition: int) -> Trial:
    """The trial itself. Its id does not depend on the file, its order, or the study's version: twice is once."""
    draft_factors = _factors(draft)
    known = planned.factors if repetition == planned.repetition else {}
    trial = replace(
        planned,
        repetition=repetition,
        option_a=text(draft.get("option_a")) or planned.option_a,
        option_b=text(draft.get("option_b")) or planned.option_b,
        expected=text(draft.get("expected")) or planned.expected,
        factors=known if draft_factors is None else draft_factors,
    )
    try:
        trial = design.as_imported(planned, trial, draft)
    except StudyError as error:
        raise CellError(error.what) from None
    are_options = trial.option_a is not None or trial.expected is not None
    is_expected = trial.expected in (None, trial.option_a, trial.option_b)
    if (are_options and trial.option_a == trial.option_b) or not is_expected:
        options = f"{shown(trial.option_a)} and {shown(trial.option_b)}"
        raise CellError(f"options {options} with {shown(trial.expected)} expected can't be")
    return replace(trial, trial_id=_trial_id(trial))


def _trial_id(trial: Trial) -> str:
    parts = [
        trial.study,
        "imported",
        trial.variant,
        trial.model,
        trial.test,
        trial.item,
        trial.group,
        trial.wording,
        trial.condition,
        trial.repetition,
    ]
    # only where it is so: the ids of what was imported before there was such a thing stay
    return stable_id(*parts, *(["structured_output"] if trial.factors.get("structured_output") else []))


def _factors(draft: Mapping[str, Any]) -> dict[str, Any] | None:
    cell = draft.get("factors")
    if is_empty(cell):
        return None
    try:
        factors = json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        factors = None
    if not isinstance(factors, dict):
        raise CellError(f"factors must be a JSON object, but is {shown(cell)}")
    return factors
