"""From a person's rows to attempts."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slant.collector.ask.attempts import AttemptMaker, AttemptPlace, Measures
from slant.collector.designs.people import PeopleUnits, PlacedAnswer
from slant.collector.designs.study import Study
from slant.collector.errors import StudyError
from slant.collector.importing.files.kinds import Problem, Row
from slant.collector.importing.layouts import values
from slant.collector.importing.layouts.cells import PlannedCells
from slant.collector.importing.people.columns import CORRECT, FileColumns, Persons, error_flag, milliseconds, trace_in
from slant.collector.importing.row_contents import is_unanswered, with_options
from slant.collector.providers.exchange import Exchange
from slant.collector.records import Attempt, Reply, Run, Trial
from slant.collector.stable_ids import stable_id

PHASES = ("practice", "test")
DIRECTIONS = ("row", "column")
_NOTHING = ("", "NA", "null", "None")
_NO_MEASURES = Measures(None, None, None)
_PLACE = ("test", "condition", "item", "wording", "group", "option_a", "option_b", "expected", "answer", "round")
_MAX_KNOWN = 200_000
_TOLD_APART = ("repetition", "position", "phase", "round", "game")


class PeopleReader:
    """Make attempts of the rows of people, and count what it can't take."""

    def __init__(
        self, study: Study, run: Run, persons: Persons, units: PeopleUnits | None, mark: str | None, decimal: str | None
    ) -> None:
        self.problems: list[Problem] = []
        self.n_missing, self.n_other = 0, 0
        self._study, self._design, self._persons, self._units = study, study.design, persons, units
        self._model, self._mark, self.decimal = study.people, mark, decimal
        self._cells = PlannedCells(study, self._model) if units is None else None
        self._placer = self._design.imports.row_placer(study) if units is None else None
        more = ("template", *self._design.imports.row_columns(study.data)) if self._placer else ()
        self._placed_by = (*_PLACE, "is_error", CORRECT, *more)
        self._maker = AttemptMaker(run, ())
        self._has_turns = self._design.asks.has_turns(study)
        self._sequence = 0
        self._known: dict[tuple[Any, ...], Attempt] = {}
        self._seen: dict[tuple[int, str], int] = {}

    def attempts(self, file: FileColumns, rows: Iterable[Row | Problem]) -> Iterator[Attempt]:
        """Yield the attempts of a file. A row that can't be read is noted, and the others are taken."""
        units: dict[Any, list[tuple[Row, int, dict[str, Any]]]] = {}
        for row in rows:
            if isinstance(row, Problem):
                self.problems.append(row)
                continue
            try:
                cells = file.valued(row.cells)
                key = self._persons.key(row)
                if self._units is not None:
                    if self._units.is_other(cells):
                        raise values.OtherRowError("is of no task")
                    number = self._persons.number(row, key)
                    units.setdefault((number, self._units.unit(cells)), []).append((row, number, cells))
                    continue
                known = self.shared(cells)
                yield self._finished(known, self._persons.number(row, key), cells)
            except (values.CellError, StudyError) as error:
                self._note(error, row)
        for (number, _), of_unit in units.items():
            yield from self._of_unit(number, of_unit)

    @property
    def places_itself(self) -> bool:
        """Return True if rows are placed by the design, several together, or by their turn."""
        return self._units is not None or self._has_turns

    def is_placed_by(self, columns: Collection[str]) -> bool:
        """Return True if these columns of a file say what was shown in a row."""
        return self._placer is not None and set(self._design.imports.row_columns(self._study.data)) <= set(columns)

    def shared(self, cells: dict[str, Any]) -> Attempt:
        """Return the fields shared by all who gave this answer in this place; CellError if it can't be read."""
        key = tuple(map(cells.get, self._placed_by))
        known = self._known.get(key) if all(isinstance(part, str | int | None) for part in key) else None
        if known is None:
            trial, turn, answer = self._planned(cells)
            known = self._made(PlacedAnswer(trial, answer, conversation=trial.game or trial.trial_id, turn=turn))
            known.is_error = error_flag(cells)
            if len(self._known) < _MAX_KNOWN:
                self._known[key] = known
        return known

    def next_sequence(self, n: int) -> int:
        """Return the number of the first of `n` attempts that are taken now."""
        first = self._sequence + 1
        self._sequence = first + n - 1
        return first

    def notes(self) -> list[str]:
        """Return the design's notes on entire tasks or games."""
        return [] if self._units is None else self._units.notes()

    def _note(self, error: values.CellError | StudyError, row: Row) -> None:
        if isinstance(error, values.MissingAnswerError):
            self.n_missing += 1
        elif isinstance(error, values.OtherRowError):
            self.n_other += 1
        else:
            self.problems.append(
                Problem(row.file, row.line, error.what if isinstance(error, StudyError) else str(error))
            )

    def _planned(self, cells: dict[str, Any]) -> tuple[Trial, int, str]:
        assert self._cells is not None
        if self._placer is not None:
            cells = {**cells, **self._placer(cells)}
        lacking = {name for name in ("test", "condition", "item", "wording") if values.is_empty(cells.get(name))}
        if lacking >= {"item", "condition"} - self._cells.said_by_study and lacking - self._cells.said_by_study:
            raise values.OtherRowError("names no trial")
        turn = 1
        if self._has_turns and not values.is_empty(cells.get("round")):
            turn = values.whole_number(cells["round"], "round", 1)
        elif self._has_turns:
            turn = self._cells.turn_of(cells) or 1
        planned, _ = self._cells.find(cells, turn)
        planned = self._design.reads.of_people(self._study, planned)
        said = {n: cells[n] for n in cells if n in _PLACE} | ({"decimal": self._mark} if self._mark else {})
        trial = with_options(self._design, planned, said, 1)
        if self._has_turns:
            trial = replace(trial, game=trial.trial_id, round=turn, trial_id=stable_id(trial.trial_id, turn))
        return trial, turn, self._answer(cells, trial)

    def _answer(self, cells: Mapping[str, Any], trial: Trial) -> str:
        """Return the answer; of a trial with a right key, the one that was pressed if only the error is given."""
        said = cells.get("answer")
        if is_unanswered(said, trial):
            is_error = error_flag(cells)
            if is_error is None or trial.expected is None:
                raise values.MissingAnswerError("has no answer")
            other = trial.option_b if trial.expected == trial.option_a else trial.option_a
            return (other if is_error else trial.expected) or ""
        return values.text(said) or ""

    def _made(self, placed: PlacedAnswer) -> Attempt:
        """Return the attempt without a person, which all who gave this answer share."""
        answer = values.composed(values.text(placed.answer) or "")
        if trace := trace_in(answer):
            raise values.CellError(f"has {trace} in its answer, which is not stored")
        reply = self._design.imports.as_imported_reply(self._study, placed.trial, Reply(answer=answer))
        reading = self._design.reads.read(self._study, placed.trial, reply)
        place = AttemptPlace(placed.conversation or placed.trial.trial_id, placed.turn, 1, True, None, None, None)
        return self._maker.make(self._model, placed.trial, place, Exchange(), reply, reading, _NO_MEASURES)

    def _finished(self, known: Attempt, number: int, cells: Mapping[str, Any], *, is_shared: bool = True) -> Attempt:
        """Return the attempt of one person: ids, the place among their answers, and what was measured of them."""
        seen = self._seen.get((number, known.trial_id), 0) + 1
        if seen > 1 and all(values.is_empty(cells.get(name)) for name in _TOLD_APART):
            raise values.CellError(
                "is a second answer of a participant to the same question: if that is intended, number both in a "
                "column repetition"
            )
        self._seen[number, known.trial_id] = seen
        said = cells.get("repetition")
        repetition = seen if values.is_empty(said) else values.whole_number(said, "repetition", 1)
        phase = values.word(cells.get("phase")) or None
        if phase is not None and phase not in PHASES:
            raise values.CellError(
                f"phase must be one of {', '.join(PHASES)} (--map-value phase:3=practice), but is another"
            )
        alone = known.conversation_id == known.trial_id
        attempt = copy.copy(known) if is_shared else known
        attempt.sequence = self.next_sequence(1)
        attempt.attempt_id = f"{attempt.run_id}-{attempt.sequence}"
        attempt.trial_id = f"{known.trial_id}-{number}-{repetition}"  # as insert_answers.sql makes them
        attempt.conversation_id = attempt.trial_id if alone else f"{known.conversation_id}-{number}"
        attempt.game = f"{known.game}-{number}" if known.game else None
        attempt.repetition = repetition
        attempt.participant = number
        attempt.position = values.count(cells.get("position"), "position")
        attempt.response_time_ms = milliseconds(cells.get("response_time_ms"), self.decimal)
        attempt.is_error = error_flag(cells)
        attempt.phase = phase
        width = cells.get("page_width_px")
        attempt.page_width_px = None if values.word(width) in _NOTHING else values.count(width, "page_width_px")
        attempt.options_direction = _direction(cells.get("options_direction"))
        attempt.done_at = values.moment(cells.get("answered_at"), "answered_at")
        return attempt

    def _of_unit(self, number: int, rows: Sequence[tuple[Row, int, dict[str, Any]]]) -> Iterator[Attempt]:
        """Yield the answers of one task or game of a person; what is wrong with it is one problem."""
        assert self._units is not None
        first = rows[0][0]
        try:
            placed = list(self._units.answers(number, [cells for _, _, cells in rows]))
        except (StudyError, values.CellError) as error:
            self._note(error, first)
            return
        for answer in placed:
            row, _, cells = rows[answer.row]
            if values.is_missing(answer.answer):
                self.n_missing += 1
                continue
            own = {name: cell for name, cell in cells.items() if name != "position"}
            try:
                yield self._finished(self._made(answer), number, {**own, "round": answer.turn}, is_shared=False)
            except (StudyError, values.CellError) as error:
                self._note(error, row)


def _direction(cell: object) -> str | None:
    """Return whether options stood in a row or a column; None if the page did not say."""
    said = values.word(cell)
    if said in _NOTHING:
        return None
    if said not in DIRECTIONS:
        raise values.CellError(f"options_direction must be one of {', '.join(DIRECTIONS)}, but is another")
    return said
