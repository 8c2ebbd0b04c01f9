"""What rows say was shown: a column for each factor, or the factors of an export, checked; and profiles that people
met, a profile a row, with its task, its place and what was answered about it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slant.collector.designs.analyses import AskedField
from slant.collector.designs.asks import Asks, Question
from slant.collector.designs.factorial.factors import Factor, Level
from slant.collector.designs.factorial.parts import FactorialData
from slant.collector.designs.factorial.questions import FORWARD, REVERSED, AskedQuestion
from slant.collector.designs.factorial.tasks import TOGETHER, Shown, Tasks, Unit, of_turn, units_of
from slant.collector.designs.factorial.texts import question_texts
from slant.collector.designs.people import FLAGS, Cells, PeopleUnits, PlacedAnswer, RowPlacer, cell_text, shown_trial
from slant.collector.designs.plan import turn_of
from slant.collector.errors import StudyError
from slant.collector.reading.choices import YES_NO
from slant.collector.reading.spelling import folded
from slant.collector.reading.written_numbers import MARKS
from slant.collector.records import Trial
from slant.collector.study.records import StudyFile, StudyModel

_TEXTS = ("names", "levels", "sent_levels", "order", "questions", "kinds", "directions")
_NUMBERS = ("lows", "highs", "abouts")
DECIMAL = "decimal"
"""The mark before decimals in the answers of an imported file, where the file or a person says it."""
_BAD = re.compile(r'[\x00-\x1f"\\]')


_DECIMALS = re.compile(r"\.0+$")


def numbers_of(factor: Factor) -> dict[str, int]:
    """Return the number of each level by its name, however it is spelled."""
    return {folded(level.name): number for number, level in enumerate(factor.levels)}


def number_in(known: Mapping[str, int], said: str, name: str) -> int:
    """Return the number of a cell's level; numbers may have decimals, as pandas writes them. StudyError, whose text
    goes on after "this row …", for one that the factor of this name lacks."""
    place = known.get(folded(said), known.get(folded(_DECIMALS.sub("", said))))
    if place is None:
        raise StudyError(f'has "{said[:40]}" as {name}, which is no level of the study')
    return place


def row_columns(data: FactorialData) -> tuple[str, ...]:
    """Return the factors, if all cells are asked; a single one that is the item needs no other name."""
    names = tuple(factor.name for factor in data.factors)
    return names if data.takes == "all" and names != ("item",) else ()


def placer_of(data: FactorialData) -> RowPlacer | None:
    """Return the function that names a row's item by its levels, if all cells are planned; otherwise None."""
    if not row_columns(data):
        return None
    factors = [(factor, numbers_of(factor)) for factor in data.factors]

    def place(cells: Mapping[str, Any]) -> Mapping[str, str]:
        if not all(factor.name in cells for factor, _ in factors):
            return {}
        said = ["" if cells[factor.name] is None else str(cells[factor.name]).strip() for factor, _ in factors]
        if not any(said):
            return {}  # of jsPsych: instructions, a fixation, a pause
        levels = [f.levels[number_in(known, text, f.name)].name for (f, known), text in zip(factors, said, strict=True)]
        template = str(cells.get("template") or "").strip()
        return {"item": ", ".join(levels), **({"condition": template} if template else {})}

    return place


def checked_shown(factors: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the factors of a row, in the order in which the plan has them; StudyError, whose text goes on after
    "this row …", where they are not what a trial keeps.
    """
    kept: dict[str, Any] = {}
    for name, usual in planned.items():
        value = factors.get(name, usual)
        if name in _TEXTS and not _is_list(value, str):
            raise StudyError(f"{name} of its factors must be a list of plain texts")
        if name == "shares" and not _is_list(value, int | float | None):
            raise StudyError(f"{name} of its factors must be a list of numbers")
        if name in _NUMBERS and not _is_list(value, int | float):
            raise StudyError(f"{name} of its factors must be a list of numbers")
        if not isinstance(value, type(usual)):
            raise StudyError(f"{name} of its factors must be of the kind that the plan has")
        kept[name] = value
    if factors.get(DECIMAL) in MARKS:
        kept[DECIMAL] = factors[DECIMAL]
    if kept["questions"] != planned["questions"]:
        raise StudyError("the questions of its factors are other ones than the study asks there")
    n = len(kept["names"])
    if not n or len(kept["levels"]) != n * kept["n_profiles"] or len(kept["shares"]) != len(kept["levels"]):
        raise StudyError("its factors must have a level and a share for each name, profile by profile")
    return kept


def _is_list(value: object, kind: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(part, kind) and not isinstance(part, bool) for part in value):
        return False
    return not any(isinstance(part, str) and _BAD.search(part) for part in value)


TASK, PLACE, TEMPLATE = "task", "place", "template"
_MAX_BUTTONS = 21


class ShownProfiles(PeopleUnits):
    """Hold rows of a factorial study: a task has a row for each profile that it showed."""

    def __init__(self, asks: Asks, study: StudyFile, model: StudyModel, content_of: Callable[[str, str], str]) -> None:
        """`content_of`: the content of all tasks of a test and a template, which nobody planned one by one."""
        self._content_of = content_of
        self._asks, self._study, self._model = asks, study, model
        self._data: FactorialData = study.data
        self._tasks = Tasks(self._data, study.seed)
        self._units = units_of(self._data)
        self._levels = {factor.name: numbers_of(factor) for factor in self._data.factors}
        self._numbers: dict[str, dict[str, int]] = {name: {} for name in self._levels}
        bases = [name for question in self._data.questions.values() for name in (question.base, question.name)]
        self.needed = tuple(self._levels)
        self.columns = (TASK, PLACE, TEMPLATE, *self._levels, *self._data.personas.columns, *dict.fromkeys(bases))

    def unit(self, cells: Cells) -> Hashable:
        return cell_text(cells, TASK) or tuple(cell_text(cells, name) for name in self._levels)

    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        ordered = self._ordered(rows)
        cells = tuple(tuple([self._number(name, row.get(name)) for name in self._levels]) for row in ordered)
        first = ordered[0]
        about = Level("", {"": ""}, more=tuple(cell_text(first, name) for name in self._data.personas.columns))
        item = f"task {cell_text(first, TASK)}" if cell_text(first, TASK) else "task"
        for unit in self._units:
            shown = Shown(unit, FORWARD, self._template(first), about, cells)
            yield from self._of_unit(unit, self._tasks.question_about(shown, item), ordered)

    def _ordered(self, rows: Sequence[Cells]) -> list[Cells]:
        count = self._data.profiles.count
        if len(rows) != count:
            raise StudyError(f"is of a task with {len(rows)} profiles, and the study shows {count}")
        places = ["" if PLACE in self._levels else cell_text(row, PLACE) for row in rows]
        is_counted = not any(map(str.isdecimal, places)) or set(places) == {str(n) for n in range(1, count + 1)}
        if count > 1 and any(places) and not (is_counted and len(set(places)) == count):
            raise StudyError(f"is of a task whose places are {', '.join(places)}: they must be 1 to {count}, each once")
        return sorted(rows, key=lambda row: cell_text(row, PLACE)) if any(places) else list(rows)

    def _number(self, name: str, cell: Any) -> int:
        """Return the number of a level; cells of a file are the same few texts again and again."""
        known = self._numbers[name]
        if type(cell) is str and cell in known:
            return known[cell]
        number = number_in(self._levels[name], cell_text({name: cell}, name), name)
        if type(cell) is str:
            known[cell] = number
        return number

    def _template(self, row: Cells) -> str:
        said = cell_text(row, TEMPLATE) or next(iter(self._data.templates))
        if said not in self._data.templates:
            raise StudyError(f'has the template "{said[:40]}", which the study does not have')
        return said

    def _of_unit(self, unit: Unit, question: Question, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        given = {asked.name: self._answer(asked, rows, question.factors[TEMPLATE]) for asked in unit.questions}
        trial = self._trial(question)
        if len(unit.questions) == 1:
            yield PlacedAnswer(trial, given[unit.questions[0].name])
        elif unit.test == TOGETHER:
            there = {name: answer for name, answer in given.items() if answer}
            yield PlacedAnswer(trial, json.dumps(there, ensure_ascii=False) if there else "")
        else:
            for turn, (name, answer) in enumerate(given.items(), 1):
                shown = {**of_turn(trial.factors, turn), "n_turns": len(given)}
                yield PlacedAnswer(turn_of(trial, turn, shown, name), answer, conversation=trial.trial_id, turn=turn)

    def _answer(self, asked: AskedQuestion, rows: Sequence[Cells], template: str) -> str:
        """Return the answer to one question; for a choice among profiles the label of the chosen one."""
        if asked.about:
            row = rows[asked.about - 1]
            return cell_text(row, asked.name) or cell_text(row, asked.base)
        said = [cell_text(row, asked.name) for row in rows]
        if not (asked.kind == "choice" and not asked.options):
            return next(filter(None, said), "")
        marks = [FLAGS.get(each.lower()) for each in said]
        if not all(said) or (len(set(said)) == 1 and len(rows) > 1 and marks[0] is None):
            return said[0] if all(said) else ""
        if None in marks or sum(map(bool, marks)) != 1:
            raise StudyError(f"is of a task in which not exactly one profile has 1 in {asked.name}, and the others 0")
        return self._data.profiles.labels(template)[marks.index(True)]

    def _trial(self, question: Question) -> Trial:
        shown = (question.item, question.factors["names"], question.factors["levels"], question.factors[TEMPLATE])
        content = self._content_of(question.test, question.factors[TEMPLATE])
        return shown_trial(self._asks, self._study, self._model, question, shown, content)


def fields_of(data: FactorialData, shown: Mapping[str, Any]) -> tuple[AskedField, ...]:
    """Return the fields for a person: one for each question, named as its answer is read."""
    asked = zip(shown["questions"], shown["directions"], question_texts(data, shown), strict=True)
    return tuple(_field(data, data.questions[name], way, shown[TEMPLATE], text) for name, way, text in asked)


def _field(data: FactorialData, question: AskedQuestion, direction: str, template: str, text: str) -> AskedField:
    options: tuple[tuple[str, str], ...] = ()
    if question.kind == "scale":
        scale = question.scale.reversed() if direction == REVERSED else question.scale
        points = range(scale.low, scale.high + 1) if scale.high - scale.low < _MAX_BUTTONS else ()
        options = tuple((str(p), f"{p} ({scale.labels[p]})" if p in scale.labels else str(p)) for p in points)
    elif question.kind in ("choice", "yes_no"):
        named = YES_NO if question.kind == "yes_no" else question.options or data.profiles.labels(template)
        options = tuple((name, name) for name in named)
    kind = "number" if question.kind in ("scale", "number") else "text"
    return AskedField(question.name, text, options, kind)


def without_persona(data: FactorialData, trial: Trial) -> Trial:
    """Return a trial without a persona: people answer as themselves. What is known of them is no part of the plan."""
    if not data.has_personas:
        return trial
    shown, n_more = trial.factors, len(data.personas.columns)
    n_names = len(shown["names"])
    levels = [
        "" if n_more and place % n_names >= n_names - n_more else level for place, level in enumerate(shown["levels"])
    ]
    return replace(trial, group="", factors={**shown, "levels": levels, "persona": ""})
