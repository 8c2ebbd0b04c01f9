"""From a file's row to an attempt: its place in the study, its counts, and the design's own reading of its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from slant.collector.ask.attempts import AttemptMaker, AttemptPlace, Measures
from slant.collector.ask.option_logprobs import OptionLogprobs
from slant.collector.designs import Design
from slant.collector.designs.study import Study
from slant.collector.errors import StudyError, UsageError
from slant.collector.importing.alike_rows import AlikeRows, Place, Said, is_plain, of_all, record_of
from slant.collector.importing.file_notes import FileNotes
from slant.collector.importing.games import GameRows
from slant.collector.importing.layouts import Layout, Row
from slant.collector.importing.layouts.cells import PlannedCells
from slant.collector.importing.layouts.tidy import IDS, PLACE
from slant.collector.importing.layouts.values import (
    CellError,
    MissingAnswerError,
    OtherRowError,
    UnknownModelError,
    amount,
    composed,
    count,
    factors_in,
    is_empty,
    is_missing,
    logprob,
    one_line,
    shown,
    text,
    whole_number,
    word,
)
from slant.collector.importing.renamed import Names
from slant.collector.importing.row_counts import COUNTS, read_counts
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.temperature import sent_temperature
from slant.collector.records import LogprobKind, Outcome, Reading, ReasoningKind, Reply, Run, Trial
from slant.collector.stable_ids import numbered_ids, stable_id
from slant.collector.study.records import StudyModel
from slant.collector.system.json_text import encoded

_OUTCOMES = tuple(name for name in get_args(Outcome) if name != "failed")
_NAMED = (*PLACE, "group")
_MOST_PLACES = 100_000
_OPTIONS = ("option_a", "option_b", "expected")
_OF_LOGPROBS = ("option_a_logprob", "option_b_logprob", "logprob_kind")
_NO_LOGPROBS = OptionLogprobs()
_LONG_TEXT = 40
"""Characters; two answers of that length are seldom the same by chance."""


class RowReader:
    """Makes attempts of rows, file by file. `model` is the model of all rows; None if each row names its own."""

    def __init__(
        self, study: Study, layout: Layout, run: Run, model: StudyModel | None, called: Names | None = None
    ) -> None:
        self.notes = self._new_notes(study)
        self._study, self._layout, self._run, self._model = study, layout, run, model
        self._design = study.design
        self._called = called or Names()
        self._cells: dict[str, PlannedCells] = {}
        self._games = GameRows(study, self._design)
        self._maker = AttemptMaker(run, ())
        self._placer = self._design.row_placer(study)
        self._has_turns = self._design.has_turns(study)
        self._plans_repetitions = type(self._design).repeated is not Design.repeated
        self._known_places: dict[tuple[Any, ...], Place] = {}
        self._alike = AlikeRows(study, layout)

    def record(self, row: Row) -> dict[str, Any]:
        """Return the attempt of a row, as its line in the journal has it. Raise CellError if the row can't be read;
        nothing of it is kept then.
        """
        key, said = self._alike.find(row)
        draft = row.cells if said is not None and said.is_draft else self._layout.draft(self._study, row)
        model = self._model_of(draft) if said is None else said.model
        place = None if said is None else said.place
        if (of_game := self._games.trial_of(draft, model)) is not None:
            conversation, trial, turn, is_known = of_game
        else:
            trial, place = self._planned(draft, model, place)
            conversation, turn, is_known = trial.game or trial.trial_id, place.turn, place.is_known
        given = _given_outcome(draft) if said is None else said.outcome
        if self._layout.skips_missing and given in (None, "answered") and _is_unanswered(draft.get("answer"), trial):
            raise MissingAnswerError("has no answer")
        if (position := count(draft.get("position"), "position")) != trial.position:
            trial = replace(trial, position=position)
        if turn is not None and "prompt_as_sent" in draft:
            _check_prompt(self._design.text(self._study, model, trial), draft["prompt_as_sent"])
        counts = read_counts(draft, model)
        as_given = _reply(draft, counts, None if said is None else said.reply)
        reply = self._design.as_imported_reply(self._study, trial, as_given)
        reading = self._read(trial, reply, given, factors_in(draft.get("factors")))
        if given is not None and reply.detail is None and "detail" in draft:
            reading = replace(reading, detail=None)  # an export says that nobody had to read it
        logprobs = _logprobs(draft)
        cost_usd = amount(draft.get("cost_usd"), "cost_usd")
        self._note(trial, is_known, counts, reply, reading)
        kept = _kept(row, draft)
        if said is not None and reply is as_given and reading.detail is None:
            return self._maker.record_like(said.record, trial, reply, reading, counts, logprobs, cost_usd, kept)
        measures = Measures(counts["tokens"], counts["token_source"], counts["reasoning_tokens_recounted"], logprobs)
        at = AttemptPlace(conversation, turn or 1, 1, is_final=True, prompt_hash=None, body=None, cost_usd=cost_usd)
        record = record_of(self._maker.make(model, trial, at, Exchange(body=kept), reply, reading, measures))
        if key is not None and place is not None and place.is_stated and reply is as_given and is_plain(record, reply):
            self._alike.keep(key, Said(model, place, given, reply, draft == row.cells, of_all(record)))
        return record

    def _planned(self, draft: Mapping[str, Any], model: StudyModel, place: Place | None) -> tuple[Trial, Place]:
        """Return the trial of the plan that a row is of, and its place, which rows alike need not look up."""
        if from_zero := self._called.from_zero:
            draft = {**draft, **{name: _counted_from_one(draft.get(name)) for name in from_zero}}
        place = place or self._place_of(draft, model)
        if place.added:
            draft = {**draft, **place.added}
        # counted before the rest, so that mending a row moves no other
        repetition = self._repetition(draft, place.cell, model)
        planned = place.planned
        if repetition != planned.repetition and place.is_known and self._plans_repetitions:
            planned = self._design.repeated(self._study, planned, repetition)
        trial = with_options(self._design, planned, draft, repetition, place.ids(repetition))
        if place.turn is not None:
            trial_id = stable_id(trial.trial_id, place.turn)
            trial = replace(trial, game=trial.trial_id, round=place.turn, trial_id=trial_id)
        return trial, place

    def _place_of(self, draft: Mapping[str, Any], model: StudyModel) -> Place:
        if model.model not in self._cells:
            self._cells[model.model] = PlannedCells(self._study, model)
        cells = self._cells[model.model]
        turn = draft["turn"] if self._layout.has_turns and "turn" in draft else None
        if turn is None and self._has_turns and self._layout.has_turns:
            turn = cells.turn_of(draft)
        if turn is None and self._has_turns:
            raise CellError("says of no turn which it is: a column round must number them")
        key = (model.model, turn, *[cell if type(cell) is str else (repr(cell),) for cell in map(draft.get, _NAMED)])
        if (place := self._known_places.get(key)) is not None:
            return place
        placed, is_stated = self._placed(draft, cells)
        planned, is_known = cells.find(placed, turn or 1)
        added = {name: cell for name, cell in placed.items() if name not in draft or draft[name] is not cell}
        of_cell = (planned.test, planned.condition, planned.group, planned.item, planned.wording)
        hashed = hash((planned.model, *of_cell, turn))
        place = Place(added, planned, turn, is_known, hashed, numbered_ids(*_parts_of_id(planned)), is_stated)
        if placed is draft and len(self._known_places) < _MOST_PLACES:
            self._known_places[key] = place
        return place

    def _placed(self, draft: Mapping[str, Any], cells: PlannedCells) -> tuple[Mapping[str, Any], bool]:
        """Return the draft with the place of its trial; if no column has that, the row's id may name it. And whether
        all rows alike are placed so."""
        if self._placer is not None and self._layout.skips_missing:
            draft = self._by_columns(draft)
        lacking = {name for name in PLACE if is_empty(draft.get(name))} - cells.said_by_study
        if not self._layout.skips_missing or not lacking:
            return draft, True
        named = next((word(draft[name]) for name in IDS if not is_empty(draft.get(name))), None)
        if named is not None and (place := cells.place_in_id(named)):
            return {**draft, **{name: value for name, value in place.items() if is_empty(draft.get(name))}}, False
        if lacking == set(PLACE) - cells.said_by_study:
            if "trial_type" in draft or is_missing(draft.get("answer")):
                raise OtherRowError("names no trial")
            if named is not None:
                raise CellError(f"its id {shown(named)} names no trial of the study: say by --map where that is")
        return draft, False

    def _by_columns(self, draft: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the draft with the place that columns of the design tell."""
        assert self._placer is not None
        try:
            placed = self._placer(draft)
        except StudyError as error:
            raise CellError(error.what) from None
        return {**draft, **placed} if placed else draft

    def _read(
        self, trial: Trial, reply: Reply, given: Outcome | None, given_factors: Mapping[str, Any] | None
    ) -> Reading:
        """Return the design's own reading, which a row's outcome may contradict: then the provider has set it, and
        nothing was read. What was read of an answer without a valid choice (its pairs, its words) is read again.
        """
        if reply.answer is not None and (answer := composed(reply.answer)) is not reply.answer:
            reply = replace(reply, answer=answer)
        reading = self._design.read(self._study, trial, reply)  # the reply of a file has no outcome of its own
        says_more = given_factors is not None and not reading.factors.keys() <= given_factors.keys()
        if given is None or (given == reading.outcome and (given == "answered" or not says_more)):
            return reading
        return self._design.read(self._study, trial, replace(reply, outcome=given))

    def end_of_file(self, file: str) -> list[str]:
        """Return the warnings about a file; what is counted within a file starts again."""
        warnings = self.notes.warnings(file)
        self.notes = self._new_notes(self._study)
        return warnings

    @staticmethod
    def _new_notes(study: Study) -> FileNotes:
        return FileNotes(tells_sameness=not study.design.analyses_tokens)

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

    def _repetition(self, draft: Mapping[str, Any], cell: int, model: StudyModel) -> int:
        notes = self.notes
        notes.seen[cell] += 1
        if notes.tells_sameness:
            answer = draft.get("answer")
            notes.note_answer(cell, (str(answer), str(draft.get("tokens")), str(draft.get("output_tokens"))))
        if not is_empty(draft.get("repetition")):
            return whole_number(draft["repetition"], "repetition", 1)
        content = hash((cell, frozenset(zip(draft, map(str, draft.values()), strict=True))))
        if notes.seen[cell] > 1:
            is_copy = content in notes.rows_seen and _is_unlikely_twice(draft, model)
            notes.copies += is_copy
            notes.repeats += not is_copy
        notes.rows_seen.add(content)
        return notes.seen[cell]

    def _note(self, trial: Trial, is_known: bool, counts: Mapping[str, Any], reply: Reply, reading: Reading) -> None:
        self.notes.rows += 1
        is_label = reply.answer in (trial.option_a, trial.option_b) or reading.spelled is not None
        self.notes.labels += is_label or (trial.expected is None and reading.outcome == "answered")
        if self._design.analyses_tokens:
            self.notes.without_tokens += counts["tokens"] is None
            self.notes.without_source += counts["tokens"] is not None and counts["token_source"] is None
        if not is_known:
            self.notes.unknown_words.setdefault(trial.test, {})[trial.item] = None


def _is_unlikely_twice(draft: Mapping[str, Any], model: StudyModel) -> bool:
    """Whether two rows that are alike in every cell are likely to be one that was written twice. Short answers,
    numbers on a scale and answers at temperature 0 are often the same."""
    if sent_temperature(model) == 0:
        return False
    texts = (draft.get("answer"), draft.get("reasoning_text"))
    has_count = any(not is_empty(draft.get(name)) for name in COUNTS)
    return has_count or any(len(str(value)) >= _LONG_TEXT for value in texts if not is_missing(value))


def _counted_from_one(value: Any) -> Any:
    return value if is_empty(value) else whole_number(value, "a number from 0") + 1


def _check_prompt(asked: str, sent: str | None) -> None:
    """Check the text of a prompt: a wording's name alone does not tell whether it is the study's own."""
    ours, theirs = one_line(asked), one_line(sent or "")
    if ours != theirs:
        same = next((n for n, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), 0)
        raise CellError(
            f"another prompt was sent than the study's: {shown(theirs[max(0, same - 20) :])} "
            f"where that has {shown(ours[max(0, same - 20) :])}"
        )


def model_named(study: Study, name: str) -> StudyModel:
    """Return the model that imported rows are of; UsageError for an unknown or a simulated one."""
    if name.startswith("simulated/"):
        raise UsageError(f'Rows of "{name}" can\'t be imported: an import would make them look like real answers.')
    return study.model(name)


def _given_outcome(draft: Mapping[str, Any]) -> Outcome | None:
    outcome = word(draft.get("outcome"))
    if outcome and outcome not in _OUTCOMES:
        raise CellError(f"outcome must be one of {', '.join(_OUTCOMES)}, but is {shown(outcome)}")
    return cast(Outcome, outcome) if outcome else None


def _reply(draft: Mapping[str, Any], counts: Mapping[str, Any], alike: Reply | None) -> Reply:
    """Return the reply of a row, which has all but counts and texts of the reply of a row alike. An empty answer stays
    '' (a CSV can't tell it from an unknown one); all other empty texts are unknown.
    """
    input_tokens = count(draft.get("input_tokens"), "input_tokens")
    if alike is None:
        alike = Reply(
            reasoning_kind=_reasoning_kind(draft),
            detail=text(draft.get("detail")) or None,
            finish_reason=text(draft.get("finish_reason")) or None,
            served_model=text(draft.get("served_model")) or None,
            fingerprint=text(draft.get("fingerprint")) or None,
        )
    return Reply(
        answer=text(draft.get("answer")),
        output_tokens=counts["output_tokens"],
        reasoning_tokens=counts["reasoning_tokens"],
        input_tokens=input_tokens,
        reasoning_text=text(draft.get("reasoning_text")) or None,
        reasoning_kind=alike.reasoning_kind,
        detail=alike.detail,
        finish_reason=alike.finish_reason,
        served_model=alike.served_model,
        fingerprint=alike.fingerprint,
        request_id=text(draft.get("request_id")) or None,
    )


def _reasoning_kind(draft: Mapping[str, Any]) -> ReasoningKind | None:
    kind = word(draft.get("reasoning_kind"))
    if kind and kind not in get_args(ReasoningKind):
        raise CellError(f"reasoning_kind must be one of {', '.join(get_args(ReasoningKind))}, but is {shown(kind)}")
    return cast(ReasoningKind, kind) if kind else None


def _logprobs(draft: Mapping[str, Any]) -> OptionLogprobs:
    """Return the log-probabilities of the two options, and how far they can be trusted; nothing says so without
    a kind.
    """
    if draft.keys().isdisjoint(_OF_LOGPROBS):  # of nearly every file, and a million rows are looked at
        return _NO_LOGPROBS
    of_a, of_b = (logprob(draft.get(name), name) for name in _OF_LOGPROBS[:2])
    kind = word(draft.get("logprob_kind"))
    if kind and kind not in get_args(LogprobKind):
        raise CellError(f"logprob_kind must be one of {', '.join(get_args(LogprobKind))}, but is {shown(kind)}")
    if not kind and (of_a is not None or of_b is not None):
        raise CellError(f"logprob_kind is needed with log-probabilities: {' or '.join(get_args(LogprobKind))}")
    return OptionLogprobs(of_a, of_b, cast(LogprobKind, kind) if kind else None)


def _kept(row: Row, draft: Mapping[str, Any]) -> str:
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
    trial.trial_id = trial_id or numbered_ids(*_parts_of_id(planned))(repetition)
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
        trial = design.as_imported(planned, trial, draft)
    except StudyError as error:
        raise CellError(error.what) from None
    are_options = trial.option_a is not None or trial.expected is not None
    is_expected = trial.expected in (None, trial.option_a, trial.option_b)
    if (are_options and trial.option_a == trial.option_b) or not is_expected:
        options = f"{shown(trial.option_a)} and {shown(trial.option_b)}"
        raise CellError(f"options {options} with {shown(trial.expected)} expected can't be")
    if trial.factors.get("structured_output"):  # only where it is so: the ids of what was imported before stay
        return replace(trial, trial_id=stable_id(*_parts_of_id(trial), trial.repetition, "structured_output"))
    return trial


def _option(value: Any, ours: tuple[str | None, ...]) -> str | None:
    """Return an option as the row has it; the study's own text where they differ in how Unicode writes their
    letters.
    """
    option = text(value)
    if option is None or option in ours:
        return option
    return next((our for our in ours if our is not None and composed(our) == composed(option)), option)


def _is_unanswered(answer: Any, trial: Trial) -> bool:
    """Return True for a missing answer: NA is none, unless an option has that name."""
    return is_missing(answer) and (answer is None or answer != answer or answer not in (trial.option_a, trial.option_b))


def _parts_of_id(trial: Trial) -> tuple[Any, ...]:
    cell = (trial.test, trial.item, trial.group, trial.wording, trial.condition)
    return (trial.study, "imported", trial.variant, trial.model, *cell)
