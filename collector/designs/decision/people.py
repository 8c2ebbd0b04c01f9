"""Read decisions that people have made: a row says which two people and words they saw, and whom they gave what."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from slant.collector.designs.asks import Asks, Question
from slant.collector.designs.decision.scenes import DecisionData, Scene
from slant.collector.designs.people import Cells, PeopleUnits, PlacedAnswer, cell_text, shown_trial
from slant.collector.designs.wordings import ATTRIBUTES, GROUPS
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded
from slant.collector.records import Trial
from slant.collector.study.records import StudyFile, StudyModel

ASKED = "asked"
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "group_a": ("option_a", "group_a", "group_1"),
    "group_b": ("option_b", "group_b", "group_2"),
    "attribute_a": ("attribute_a", "word_a", "attribute_1"),
    "attribute_b": ("attribute_b", "word_b", "attribute_2"),
}
"""Name the columns of each name and word; which side it is on is known from the lists of the test."""


class MadeDecisions(PeopleUnits):
    """Read rows of decisions: a row is one, with its names and words, or with the draw of the plan (`item`)."""

    def __init__(self, asks: Asks, study: StudyFile, model: StudyModel) -> None:
        self._asks, self._study, self._model = asks, study, model
        self._data: DecisionData = study.data
        self._drawn = {
            (question.test, question.wording, folded(question.item)): question
            for question in asks.questions(study, model)
        }
        self._rows = count()
        self.columns = (ASKED, "first_group", "first_attribute", *dict.fromkeys(sum(_COLUMNS.values(), ())))

    def unit(self, cells: Cells) -> Hashable:
        return next(self._rows)

    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        cells = rows[0]
        test = self._named("test", cell_text(cells, "test"), {name: name for name in self._data.tests})
        wording, scene = self._scene(cells, test)
        shown = self._shown(cells, test, wording, scene)
        if said := cell_text(cells, ASKED):
            shown = replace(shown, factors={**shown.factors, ASKED: self._side_asked(said, shown, test, scene)})
        yield PlacedAnswer(self._trial(shown), cell_text(cells, "answer"))

    def _scene(self, cells: Cells, test: str) -> tuple[int, Scene]:
        scenes = {n: scene for n in self._data.wordings if (scene := self._data.scene(test, n)) is not None}
        said, number = cell_text(cells, "condition"), cell_text(cells, "wording").removesuffix(".0")
        found = {
            n: scene
            for n, scene in scenes.items()
            if (not said or folded(scene.condition) == folded(said)) and (not number or str(n) == number)
        }
        if len(found) != 1:
            listed = ", ".join(f"{n} ({scene.condition})" for n, scene in scenes.items())
            raise StudyError(f"must say which wording of {test} was shown, one of {listed}, as wording or condition")
        return next(iter(found.items()))

    def _shown(self, cells: Cells, test: str, wording: int, scene: Scene) -> Question:
        """Return the question that was shown: by the row's own names or, if it has none, by the draw of the plan."""
        said = {
            side: next((text for name in columns if (text := cell_text(cells, name))), "")
            for side, columns in _COLUMNS.items()
        }
        item = cell_text(cells, "item")
        drawn = self._drawn.get((test, wording, folded(item)))
        if drawn is not None and _agree(said, drawn):
            return replace(drawn, factors=_of_decision(scene, drawn.factors))
        if not (said["group_a"] and said["group_b"]):
            raise StudyError("says neither which two people were shown (option_a and option_b) nor which draw (item)")
        lists = self._data.tests[test].words(scene.tasks[-1].words)
        names = _by_side(said, GROUPS, lists)
        words = _by_side(said, ATTRIBUTES, lists)
        facts: dict[str, Any] = {name: word for name, word in words.items() if word}
        for column, shown in (("first_group", names), ("first_attribute", words)):
            side = next((s for s in shown if _is_first(cell_text(cells, column), s, shown[s])), "")
            facts |= {column: side[-1]} if side else {}
        return Question(
            test=test,
            condition=scene.condition,
            item=item or " / ".join(filter(None, (*names.values(), *words.values()))),
            group=self._data.tests[test].group,
            wording=wording,
            option_a=names["group_a"],
            option_b=names["group_b"],
            factors=_of_decision(scene, facts),
        )

    def _side_asked(self, said: str, shown: Question, test: str, scene: Scene) -> str:
        lists = self._data.tests[test].words(scene.tasks[-1].words)
        words = {side: [shown.factors.get(side) or "", *lists[side]] for side in ATTRIBUTES}
        for side, known in words.items():
            if folded(said) in (folded(side), side[-1], *map(folded, known)):
                return side[-1]
        raise StudyError(f'asked for "{said[:40]}", which is none of the words of {test}')

    def _named(self, what: str, said: str, known: Mapping[str, str]) -> str:
        found = [name for name in known if folded(name) == folded(said)] if said else list(known)
        if len(found) != 1:
            raise StudyError(f'has "{said[:40]}" as {what}, which must be one of {", ".join(known)}')
        return found[0]

    def _trial(self, question: Question) -> Trial:
        facts = sorted((name, str(value)) for name, value in question.factors.items())
        shown = (question.wording, question.item, question.option_a, question.option_b, facts)
        return shown_trial(self._asks, self._study, self._model, question, shown)


def _of_decision(scene: Scene, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of the last task alone: people decide, and what a model is asked before that is not theirs."""
    kept = {name: facts[name] for name in ("first_group", "first_attribute", *ATTRIBUTES) if name in facts}
    return {"tasks": [scene.kinds[-1]], **kept, **({"about": scene.about} if scene.about else {})}


def _agree(said: Mapping[str, str], drawn: Question) -> bool:
    """Return whether what a row says of names and words is what the draw of the plan has, on either side."""
    names = {folded(name or "") for name in (drawn.option_a, drawn.option_b)}
    words = {folded(drawn.factors[side]) for side in ATTRIBUTES}
    return all(not text or folded(text) in (names if side in GROUPS else words) for side, text in said.items())


def _by_side(said: Mapping[str, str], sides: tuple[str, str], lists: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return both by side, changed over if the lists have them the other way round (a file may have them as shown)."""
    first, second = (said[side] for side in sides)
    of_side = [set(map(folded, lists[side])) for side in sides]
    is_other = folded(first) in of_side[1] or folded(second) in of_side[0]
    is_same = folded(first) in of_side[0] or folded(second) in of_side[1]
    if is_other and is_same:
        raise StudyError(f'has "{first[:40]}" and "{second[:40]}" as two of one list: each must be from one of its own')
    return dict(zip(sides, (second, first) if is_other else (first, second), strict=True))


def _is_first(said: str, side: str, name: str) -> bool:
    return bool(said) and folded(said) in (side[-1], folded(side), folded(name))
