"""From a file's row to an attempt: its place in the study, its counts, and the design's own reading of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.ask.attempts import AttemptMaker, AttemptPlace, Measures
from slant.collector.designs.proposed_study import FAILED
from slant.collector.designs.study import Study
from slant.collector.errors import StudyError, UsageError
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
    moment,
    one_line,
    shown,
    whole_number,
    word,
)
from slant.collector.importing.renamed import Names
from slant.collector.importing.row_contents import (
    COUNTS,
    AlikeAnswers,
    GameRows,
    Place,
    SharedAnswer,
    given_outcome,
    is_unanswered,
    kept_row,
    may_be_shared,
    option_logprobs,
    parts_of_id,
    read_counts,
    record_of,
    reply_of,
    with_options,
)
from slant.collector.importing.writer import FileNotes
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.temperature import sent_temperature
from slant.collector.records import Outcome, Reading, Reply, Run, Trial
from slant.collector.stable_ids import numbered_ids, stable_id
from slant.collector.study.records import StudyModel

_NAMED = (*PLACE, "group")
_MOST_PLACES = 100_000
_LONG_ERROR = 300
_LONG_TEXT = 40
"""Characters; two answers of that length are seldom the same by chance."""


class RowReader:
    """Make attempts of rows, file by file. `model` is the model of all rows; None if each row names its own. `mark`:
    before decimals in their answers, where it must be known."""

    def __init__(
        self,
        study: Study,
        layout: Layout,
        run: Run,
        model: StudyModel | None,
        called: Names | None = None,
        mark: str | None = None,
    ) -> None:
        self.notes = self._new_notes(study)
        self._study, self._layout, self._run, self._model = study, layout, run, model
        self._design = study.design
        self._called = called or Names()
        self._mark = mark
        self._cells: dict[str, PlannedCells] = {}
        self._games = GameRows(study, self._design)
        self._maker = AttemptMaker(run, ())
        self._placer = self._design.imports.row_placer(study)
        self._has_turns = self._design.asks.has_turns(study)
        self._placed_by = (*_NAMED, "template", *self._design.imports.row_columns(study.data))
        self._known_places: dict[tuple[Any, ...], Place] = {}
        self._answers = AlikeAnswers(study, layout)
        self._analyses_tokens = self._design.analyses.counts_tokens

    def shared(self, row: Row) -> tuple[SharedAnswer, tuple[Any, ...]] | None:
        """Return the attempt that a row shares with earlier ones, and what it has by itself, in the order of `OWN`;
        None if it must be read by itself.
        """
        _, known = self._answers.find(row)
        if known is None or row.cells.get("answered_at") is not None:
            return None
        place, model = known.place, known.model
        draft = self._completed(row.cells, place)
        try:
            stated = draft.get("repetition")
            next_one = self.notes.seen[place.cell] + 1
            number = next_one if is_empty(stated) else whole_number(stated, "repetition", 1)
            numbers = self._answers.numbers(row.cells, model)
        except CellError:  # said when it is read
            return None
        if (shared := known.by_cycle.get(number % self._answers.cycle)) is None:
            return None
        repetition = self._repetition(draft, place.cell, model, None if is_empty(stated) else number)
        self._note(place.planned, numbers[1], numbers[2], is_known=place.is_known, is_label=shared.is_label)
        own = (self._maker.next_sequence(), place.ids(repetition), repetition, *numbers, kept_row(row, row.cells))
        return shared, own

    def record(self, row: Row) -> dict[str, Any]:
        """Return the attempt of a row, as its line in the journal has it. Raise CellError if the row can't be read;
        nothing of it is kept then.
        """
        record = self._record(row)
        if (at := moment(row.cells.get("answered_at"), "answered_at")) is not None:
            record["done_at"] = at
        return record

    def _record(self, row: Row) -> dict[str, Any]:
        draft = self._layout.draft(self._study, row)
        model = self._model_of(draft)
        place = None
        if (of_game := self._games.trial_of(draft, model)) is not None:
            conversation, trial, turn, is_known = of_game
        else:
            trial, place = self._planned(draft, model)
            conversation, turn, is_known = trial.game or trial.trial_id, place.turn, place.is_known
        given = given_outcome(draft)
        answer = draft.get("answer")
        if self._layout.skips_missing and given in (None, "answered") and is_unanswered(answer, trial):
            raise MissingAnswerError("has no answer")
        self._check_answered(draft, trial, given)
        if (position := count(draft.get("position"), "position")) != trial.position:
            trial = replace(trial, position=position)
        if turn is not None and "prompt_as_sent" in draft:
            _check_prompt(self._design.asks.text(self._study, model, trial), draft["prompt_as_sent"])
        counts = read_counts(draft, model)
        as_given = reply_of(draft, counts)
        reply = self._design.imports.as_imported_reply(self._study, trial, as_given)
        reading = self._read(trial, reply, given, factors_in(draft.get("factors")))
        if given is not None and reply.detail is None and "detail" in draft:
            reading = replace(reading, detail=None)  # an export says that nobody had to read it
        logprobs = option_logprobs(draft)
        cost_usd = amount(draft.get("cost_usd"), "cost_usd")
        # one of the labels; of other questions, what could be read
        is_option = reply.answer in (trial.option_a, trial.option_b) or reading.spelled is not None
        is_label = is_option or reading.outcome == "answered"
        self._note(trial, counts["tokens"], counts["token_source"], is_known=is_known, is_label=is_label)
        kept = kept_row(row, draft)
        measures = Measures(counts["tokens"], counts["token_source"], counts["reasoning_tokens_recounted"], logprobs)
        at = AttemptPlace(conversation, turn or 1, 1, is_final=True, prompt_hash=None, body=None, cost_usd=cost_usd)
        record = record_of(self._maker.make(model, trial, at, Exchange(body=kept), reply, reading, measures))
        is_of_all = place is not None and place.is_stated and reply is as_given and may_be_shared(record)
        if place is not None and is_of_all and draft == row.cells:
            self._keep_answer(row, model, place, record, kept, is_label)
        return record

    def _check_answered(self, draft: Mapping[str, Any], trial: Trial, given: Outcome | None) -> None:
        """Check that an answer is none that a program wrote because its request failed ("[ERROR] API error")."""
        answer = draft.get("answer")
        if not (
            self._layout.skips_missing and given is None and isinstance(answer, str) and len(answer) <= _LONG_ERROR
        ):
            return
        is_failure = FAILED.match(answer) and answer not in (trial.option_a, trial.option_b)
        is_text = trial.factors.get("kinds") == ["text"]  # which any text answers
        if is_failure and (is_text or self._read(trial, Reply(answer=answer), None, None).outcome != "answered"):
            raise CellError(f"is a request that failed ({one_line(answer)[:60]})")

    def _keep_answer(
        self, row: Row, model: StudyModel, place: Place, record: Mapping[str, Any], kept: str, is_label: bool
    ) -> None:
        """Remember what the next rows with this answer share, if no more than its number is said of this one."""
        key, _ = self._answers.find(row)
        named = place.ids(record["repetition"])
        if key is not None and record["trial_id"] == record["conversation_id"] == named and record["response"] == kept:
            self._answers.keep(key, model, place, record, is_label=is_label)

    def _planned(self, draft: Mapping[str, Any], model: StudyModel) -> tuple[Trial, Place]:
        """Return the trial of the plan that a row is of, and its place."""
        place = self._place_of(self._completed(draft), model)
        draft = self._completed(draft, place)
        # counted before the rest, so that mending a row moves no other
        repetition = self._repetition(draft, place.cell, model)
        planned = place.planned
        if repetition != planned.repetition and place.is_known and self._answers.cycle != 1:
            planned = self._design.asks.repeated(self._study, planned, repetition)
        said = {**draft, "decimal": self._mark} if self._mark else draft
        trial = with_options(self._design, planned, said, repetition, place.ids(repetition))
        if place.turn is not None:
            trial_id = stable_id(trial.trial_id, place.turn)
            trial = replace(trial, game=trial.trial_id, round=place.turn, trial_id=trial_id)
        return trial, place

    def _completed(self, draft: Mapping[str, Any], place: Place | None = None) -> Mapping[str, Any]:
        """Return a draft with its numbers counted from 1, and what its place adds."""
        if from_zero := self._called.from_zero:
            said = {name: cell for name in from_zero if not is_empty(cell := draft.get(name))}
            draft = {**draft, **{name: whole_number(cell, "a number from 0") + 1 for name, cell in said.items()}}
        return {**draft, **place.added} if place is not None and place.added else draft

    def _place_of(self, draft: Mapping[str, Any], model: StudyModel) -> Place:
        if model.model not in self._cells:
            self._cells[model.model] = PlannedCells(self._study, model)
        cells = self._cells[model.model]
        turn = draft["turn"] if self._layout.has_turns and "turn" in draft else None
        if turn is None and self._has_turns and self._layout.has_turns:
            turn = cells.turn_of(draft)
        if turn is None and self._has_turns:
            raise CellError("says of no turn which it is: a column round must number them")
        key = (
            model.model,
            turn,
            *[cell if type(cell) is str else (repr(cell),) for cell in map(draft.get, self._placed_by)],
        )
        if (place := self._known_places.get(key)) is not None:
            return place
        placed, is_stated = self._placed(draft, cells)
        planned, is_known = cells.find(placed, turn or 1)
        added = {name: cell for name, cell in placed.items() if name not in draft or draft[name] is not cell}
        of_cell = (planned.test, planned.condition, planned.group, planned.item, planned.wording)
        hashed = hash((planned.model, *of_cell, turn))
        place = Place(added, planned, turn, is_known, hashed, numbered_ids(*parts_of_id(planned)), is_stated)
        if is_stated and len(self._known_places) < _MOST_PLACES:
            self._known_places[key] = place
        return place

    def _placed(self, draft: Mapping[str, Any], cells: PlannedCells) -> tuple[Mapping[str, Any], bool]:
        """Return the draft with the place of its trial; if no column has that, the row's id may name it. And whether
        all rows alike are placed so."""
        if self._placer is not None and self._layout.skips_missing:
            assert self._placer is not None
            try:
                placed = self._placer(draft)
            except StudyError as error:
                raise CellError(error.what) from None
            draft = {**draft, **placed} if placed else draft
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

    def _read(
        self, trial: Trial, reply: Reply, given: Outcome | None, given_factors: Mapping[str, Any] | None
    ) -> Reading:
        """Return the design's own reading, which a row's outcome may contradict: then the provider has set it, and
        nothing was read. What was read of an answer without a valid choice (its pairs, its words) is read again.
        """
        if reply.answer is not None and (answer := composed(reply.answer)) is not reply.answer:
            reply = replace(reply, answer=answer)
        reading = self._design.reads.read(self._study, trial, reply)  # the reply of a file has no outcome of its own
        says_more = given_factors is not None and not reading.factors.keys() <= given_factors.keys()
        if given is None or (given == reading.outcome and (given == "answered" or not says_more)):
            return reading
        return self._design.reads.read(self._study, trial, replace(reply, outcome=given))

    def end_of_file(self, file: str) -> list[str]:
        """Return the warnings about a file; what is counted within a file starts again."""
        warnings = self.notes.warnings(file)
        self.notes = self._new_notes(self._study)
        return warnings

    @staticmethod
    def _new_notes(study: Study) -> FileNotes:
        return FileNotes(tells_sameness=not study.design.analyses.counts_tokens)

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

    def _repetition(self, draft: Mapping[str, Any], cell: int, model: StudyModel, stated: int | None = None) -> int:
        """Return the number of a repetition: `stated`, that of the row, or one more than before in this cell."""
        notes = self.notes
        notes.seen[cell] += 1
        if notes.tells_sameness:
            answer = draft.get("answer")
            notes.note_answer(cell, (str(answer), str(draft.get("tokens")), str(draft.get("output_tokens"))))
        if stated is not None:
            return stated
        if not is_empty(draft.get("repetition")):
            return whole_number(draft["repetition"], "repetition", 1)
        content = hash((cell, frozenset(zip(draft, map(str, draft.values()), strict=True))))
        if notes.seen[cell] > 1:
            is_copy = content in notes.rows_seen and _is_unlikely_twice(draft, model)
            notes.copies += is_copy
            notes.repeats += not is_copy
        notes.rows_seen.add(content)
        return notes.seen[cell]

    def _note(self, trial: Trial, tokens: int | None, source: str | None, *, is_known: bool, is_label: bool) -> None:
        self.notes.rows += 1
        self.notes.labels += is_label
        if self._analyses_tokens:
            self.notes.without_tokens += tokens is None
            self.notes.without_source += tokens is not None and source is None
        if not is_known:
            self.notes.unknown_words.setdefault(trial.test, {})[trial.item] = None


def _is_unlikely_twice(draft: Mapping[str, Any], model: StudyModel) -> bool:
    """Return whether two rows that are alike in every cell are likely to be one that was written twice. Short answers,
    numbers on a scale and answers at temperature 0 are often the same."""
    if sent_temperature(model) == 0:
        return False
    texts = (draft.get("answer"), draft.get("reasoning_text"))
    has_count = any(not is_empty(draft.get(name)) for name in COUNTS)
    return has_count or any(len(str(value)) >= _LONG_TEXT for value in texts if not is_missing(value))


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
