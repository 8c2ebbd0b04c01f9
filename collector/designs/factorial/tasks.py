"""The tasks of a study, made one by one: which profiles are shown, in which words, to whom, with which question.

What was shown is kept with each trial, in lists whose names the views rely on (sql/views/1_trials/2_factorial_…):
names of attributes (factors, what their files say of a level, what is so of the persona), their levels profile by
profile, the share that each level has under the design, the order in which attributes were listed, the questions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from slant.collector.designs.asks import Question
from slant.collector.designs.factorial.cells import Cell
from slant.collector.designs.factorial.factors import ABSENT, Level
from slant.collector.designs.factorial.parts import FactorialData
from slant.collector.designs.factorial.questions import FORWARD, REVERSED, AskedQuestion
from slant.collector.designs.plan import TurnPlan, turn_of
from slant.collector.records import Trial
from slant.collector.stable_ids import stable_id

TOGETHER = "all_questions"
"""The test of trials that ask all questions in one answer."""
SENT_LEVELS, SENT_PERSONA = "sent_levels", "sent_persona"
"""In the variant `null`, what a prompt shows: not what its trial records."""
AGAIN = " again"
"""End the item of a task that is shown a second time, with its sides swapped."""
_TRIES = 100


@dataclass(frozen=True)
class Unit:
    """Hold what is asked in one trial (or one conversation): a question, or all of them; `directions` of scales in
    turn."""

    test: str
    questions: tuple[AskedQuestion, ...]
    directions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """Hold what somebody saw: profiles by the numbers of their levels, in which order their attributes stood (empty:
    that of the study), and the draw that turns a scale (`coin`)."""

    unit: Unit
    direction: str
    template: str
    persona: Level
    cells: tuple[Cell, ...]
    order: Sequence[str] = ()
    coin: float = 1.0


def units_of(data: FactorialData) -> list[Unit]:
    """Return the units of each task, in the study's order."""
    questions = tuple(data.questions.values())
    if data.asked == "apart":
        return [Unit(question.name, (question,), _directions((question,))) for question in questions]
    return [Unit(TOGETHER if data.asked == "together" else questions[0].name, questions, _directions(questions))]


def _directions(questions: tuple[AskedQuestion, ...]) -> tuple[str, ...]:
    is_factor = any(question.direction == "both" for question in questions)
    return (FORWARD, REVERSED) if is_factor else (FORWARD,)


class Tasks(Sequence[Question]):
    """Hold all that a model is asked in one repetition, each made where it is wanted; what is drawn depends on the seed
    of the study alone, and is alike in all templates, for all personas and all questions."""

    def __init__(self, data: FactorialData, seed: int) -> None:
        self._data, self._seed = data, seed
        self._known: dict[tuple[int, int], tuple[list[str], list[float]]] = {}
        self._units = units_of(data)
        self._templates, self._personas = tuple(data.templates), len(data.personas.levels)
        self._sizes = [
            len(unit.directions) * len(self._templates) * self._personas * data.n_tasks for unit in self._units
        ]

    def __len__(self) -> int:
        return sum(self._sizes)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        unit_no = 0
        while number >= self._sizes[unit_no]:
            number -= self._sizes[unit_no]
            unit_no += 1
        number, task = divmod(number, self._data.n_tasks)
        number, persona = divmod(number, self._personas)
        direction, template = divmod(number, len(self._templates))
        unit = self._units[unit_no]
        return self._question(unit, unit.directions[direction], self._templates[template], persona, task)

    def __iter__(self) -> Iterator[Question]:
        return (self[number] for number in range(len(self)))

    def cells_of(self, task: int) -> tuple[Cell, ...]:
        """Return the profiles of a task, by its number from 0."""
        data, count = self._data, self._data.profiles.count
        if (first := self._first(task)) != task:
            return self.cells_of(first)[::-1]
        if data.takes == "all":
            return (data.cells.cell(task),)
        if data.takes == "random" and count == 1:
            return (data.cells.cell(self._chosen[task]),)
        if data.takes == "balanced":
            return tuple(self._balanced[task * count : (task + 1) * count])
        rng = random.Random("\x1f".join(map(str, ("factorial", self._seed, task))))
        cells: list[Cell] = []
        while len(cells) < count:
            cell = data.cells.drawn(rng)
            if cell not in cells:
                cells.append(cell)
        return tuple(cells)

    def _first(self, task: int) -> int:
        """Return the task that this one shows again with its sides swapped; itself if it is new."""
        return task - self._data.n if 0 < self._data.n <= task else task

    @cached_property
    def _chosen(self) -> list[int]:
        return random.Random(f"factorial\x1f{self._seed}").sample(range(self._data.cells.n), self._data.n)

    @cached_property
    def _balanced(self) -> list[Cell]:
        """Return balanced cells, task by task; of several tries the first in which no task shows one profile twice."""
        count, best, fewest = self._data.profiles.count, [], -1
        for number in range(_TRIES):
            rng = random.Random(f"factorial\x1f{self._seed}\x1f{number}")
            cells = self._data.cells.balanced(self._data.n * count, rng)
            tasks = [cells[place : place + count] for place in range(0, len(cells), count)]
            twice = sum(len(set(task)) < count for task in tasks)
            if fewest < 0 or twice < fewest:
                best, fewest = cells, twice
            if not twice:
                break
        return best

    def _question(self, unit: Unit, direction: str, template: str, persona: int, task: int) -> Question:
        cells = self.cells_of(task)
        if self._data.dealt_by is None:
            return self.question_about(self._shown(unit, direction, template, persona, task), self._item(cells, task))
        place = self._dealt[persona * self._data.n_tasks + task]
        sent = self._shown(unit, direction, template, *divmod(place, self._data.n_tasks))
        labels = replace(sent, cells=cells, persona=self._data.personas.levels[persona])
        recorded = self.question_about(labels, self._item(cells, task))
        levels, _ = self._levels_of(sent)
        return replace(recorded, factors={**recorded.factors, SENT_LEVELS: levels, SENT_PERSONA: sent.persona.name})

    def _shown(self, unit: Unit, direction: str, template: str, persona: int, task: int) -> Shown:
        data, names = self._data, [factor.name for factor in self._data.factors]
        rng = random.Random("\x1f".join(map(str, ("factorial order", self._seed, self._first(task)))))
        order = rng.sample(names, len(names)) if data.profiles.attribute_order == "drawn" else []
        about = data.personas.levels[persona]
        return Shown(unit, direction, template, about, self.cells_of(task), order, rng.random())

    @cached_property
    def _dealt(self) -> list[int]:
        """Return the place whose prompt is sent, for each place (persona by persona, task by task); the same in all
        templates and for all questions, so that the questions about a prompt stay together."""
        n = self._data.n_tasks * self._personas
        return random.Random(f"factorial null\x1f{self._data.dealt_by}").sample(range(n), n)

    def question_about(self, shown: Shown, item: str) -> Question:
        """Return the question about what was shown."""
        data, unit, about = self._data, shown.unit, shown.persona
        levels, shares = self._levels_of(shown)
        directions = [_shown_direction(question, shown.direction, shown.coin) for question in unit.questions]
        return Question(
            test=unit.test,
            condition=condition_of(shown.template, shown.direction),
            item=item,
            group=about.name,
            wording=list(data.templates).index(shown.template) + 1,
            factors={
                "names": self._names,
                "levels": levels,
                "shares": shares,
                "order": [*shown.order],
                "template": shown.template,
                "persona": about.name,
                "n_profiles": len(shown.cells),
                "questions": [question.name for question in unit.questions],
                "kinds": [question.shown_kind for question in unit.questions],
                "lows": [question.scale.low if question.kind == "scale" else 0 for question in unit.questions],
                "highs": [question.scale.high if question.kind == "scale" else 0 for question in unit.questions],
                "directions": directions,
                "abouts": [question.about for question in unit.questions],
            },
        )

    def _levels_of(self, shown: Shown) -> tuple[list[str], list[float | None]]:
        """Return the level of each attribute, profile by profile, and the share that it has under the design."""
        key = ("levels", shown.cells, tuple(shown.persona.more))
        return self._data.remembered(key, lambda: self._made_levels(shown))  # type: ignore[no-any-return]

    def _made_levels(self, shown: Shown) -> tuple[list[str], list[float | None]]:
        levels: list[str] = []
        shares: list[float | None] = []
        for cell in shown.cells:
            for place in enumerate(cell):
                if place not in self._known:
                    named = list(self._named(*place))
                    self._known[place] = ([level for _, level in named], [self._shares[n][level] for n, level in named])
                levels += self._known[place][0]
                shares += self._known[place][1]
            levels += shown.persona.more
            shares += [None] * len(shown.persona.more)  # whom to ask is not drawn
        return levels, shares

    def _item(self, cells: tuple[Cell, ...], task: int) -> str:
        if self._data.takes != "all":
            first = self._first(task)
            return f"task {first + 1}{AGAIN if first != task else ''}"
        levels = (factor.levels[level].name for factor, level in zip(self._data.factors, cells[0], strict=True))
        return ", ".join(filter(None, levels))

    def _named(self, factor: int, level: int) -> Iterator[tuple[str, str]]:
        return zip(self._data.factors[factor].names, self._data.factors[factor].values(level), strict=True)

    @cached_property
    def _names(self) -> list[str]:
        """Return the names of all attributes, those of personas last."""
        return [*(name for factor in self._data.factors for name in factor.names), *self._data.personas.columns]

    @cached_property
    def _shares(self) -> dict[str, dict[str, float]]:
        """Return the share of each attribute's levels under the design; of a persona's, among personas."""
        return expected_shares(self._data)


def expected_shares(data: FactorialData) -> dict[str, dict[str, float]]:
    """Return the share that each level of each attribute has under the design, by attribute and level; of a nested
    factor among the profiles that have it."""
    shares: dict[str, dict[str, float]] = {}
    of_personas = (1 / len(data.personas.levels),) * len(data.personas.levels)
    listed = [*zip(data.factors, data.cells.shares, strict=True), (data.personas, of_personas)]
    for factor, of_levels in listed:
        for place, name in enumerate(factor.names):
            by_level = shares.setdefault(name, {})
            for number, share in enumerate(of_levels):
                level = factor.values(number)[place]
                by_level[level] = by_level.get(level, 0.0) + share
            if factor.within is not None:
                there = 1 - by_level[ABSENT]
                by_level |= {level: share / there for level, share in by_level.items() if level != ABSENT}
    return {name: {level: round(share, 10) for level, share in levels.items()} for name, levels in shares.items()}


def condition_of(template: str, direction: str) -> str:
    """Return the name of an arm: the template, and whether scales run the other way."""
    return template if direction == FORWARD else f"{template}.{direction}"


def conditions_of(data: FactorialData) -> list[str]:
    directions = dict.fromkeys(direction for unit in units_of(data) for direction in unit.directions)
    return [condition_of(template, direction) for direction, template in product(directions, data.templates)]


def _shown_direction(question: AskedQuestion, direction: str, coin: float) -> str:
    if question.direction == "both":
        return direction
    if question.direction == "drawn":
        return REVERSED if coin < 0.5 else FORWARD
    return question.direction


def as_sent(shown: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the factors of a trial as its prompt shows them: other levels than recorded in the variant `null`."""
    if SENT_LEVELS not in shown:
        return shown
    return {**shown, "levels": shown[SENT_LEVELS], "persona": shown[SENT_PERSONA]}


class Conversations(TurnPlan):
    """Plan tasks whose questions are asked one after another."""

    mixes_tests = True

    def n_trials(self, place: Any) -> int:
        return self._max_turns

    def trial_ids(self, place: Any) -> tuple[str, ...]:
        whole = self._whole.trial_id(place)
        return tuple(stable_id(whole, turn) for turn in range(1, self._max_turns + 1))

    def turns(self, whole: Trial) -> Iterator[Trial]:
        for turn, question in enumerate(whole.factors["questions"], 1):
            yield turn_of(whole, turn, {**of_turn(whole.factors, turn), "n_turns": self._max_turns}, question)


_BY_QUESTION = ("questions", "kinds", "lows", "highs", "directions", "abouts")


def of_turn(shown: Mapping[str, Any], turn: int) -> dict[str, Any]:
    """Return the factors of one turn, from 1: one of its questions."""
    return {**shown, **{name: [shown[name][turn - 1]] for name in _BY_QUESTION}}
