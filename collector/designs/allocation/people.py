"""Read games that people have played, one round per row, with the group that was chosen and how that turned out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slant.collector.designs.allocation.games import ROUNDS
from slant.collector.designs.allocation.imported import turn_reader
from slant.collector.designs.allocation.parts import AllocationData
from slant.collector.designs.people import Cells, ImportedTurn, PeopleUnits, PlacedAnswer, cell_text, rounds_in_order
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded
from slant.collector.study.records import StudyFile, StudyModel

_TRUE = ("1", "true", "yes", "1.0", "won", "win", "success", "succeeded", "correct", "hit")
_FALSE = ("0", "false", "no", "0.0", "lost", "loss", "failure", "failed", "wrong", "miss")
_SUCCESS = ("is_success", "reward", "success")
_OTHER_SCALE = (
    "has a reward that is neither a success nor none (is_success: 1 or 0, true or false): of rewards on another scale, "
    "say of each which it is (--map-value is_success:10=1 --map-value is_success:-5=0), or add a column of 1 and 0"
)


class PlayedGames(PeopleUnits):
    """Read rows of games: earlier tries and their outcomes are counted from the rounds themselves."""

    def __init__(self, study: StudyFile, model: StudyModel) -> None:
        self._data: AllocationData = study.data
        self._read = turn_reader(study, model)
        self._groups = {folded(group): group for group in self._data.groups}
        self._chances = _chances_by_class(self._data)
        self._short = 0
        self.columns = ("game", "round", "job", "class", *_SUCCESS)

    def is_other(self, cells: Cells) -> bool:
        return not any(cell_text(cells, name) for name in ("round", *_SUCCESS))

    def unit(self, cells: Cells) -> Hashable:
        return cell_text(cells, "game")

    def notes(self) -> list[str]:
        if not self._short:
            return []
        games = f"{self._short:,} {'game ends' if self._short == 1 else 'games end'}"
        return [f"{games} before round {self._data.n_rounds}: taken as games that were broken off"]

    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        numbers = rounds_in_order(rows, f" of {self._data.n_rounds}")
        places = sorted(range(len(rows)), key=numbers.__getitem__)
        self._short += len(rows) < self._data.n_rounds
        game = _Standing(self._data)
        for number, place in enumerate(places, 1):
            cells = rows[place]
            job_class = cell_text(cells, "condition") or cell_text(cells, "class")
            row = ImportedTurn(
                test=cell_text(cells, "test") or ROUNDS,
                condition=job_class,
                item=cell_text(cells, "item") or cell_text(cells, "job"),
                group="",
                game=f"{person}:{cell_text(cells, 'game')}",
                number=person,
                round=number,
                factors=game.facts(job_class),
                is_success=_success(cells),
            )
            conversation, trial = self._read(row)
            if chances := self._chances.get(trial.condition):
                trial = replace(trial, factors={**trial.factors, "p_by_group": chances})
            answer = cell_text(cells, "answer")
            yield PlacedAnswer(trial, answer, place, conversation, number)
            game.go_on(job_class, self._groups.get(folded(answer)), row.is_success)


class _Standing:
    """Hold what a player knows before a round: tries and successes by group in each class of jobs, and the last
    choice."""

    def __init__(self, data: AllocationData) -> None:
        self._groups = data.groups
        self._tries: dict[str, dict[str, list[int]]] = {}
        self._last: dict[str, tuple[str, bool]] = {}
        self._is_known = True

    def facts(self, job_class: str) -> Mapping[str, Any]:
        if not self._is_known:
            return {}
        counts = self._tries.get(job_class, {})
        of_groups = [counts.get(group, [0, 0]) for group in self._groups]
        facts: dict[str, Any] = {
            "tries_before": [tried for tried, _ in of_groups],
            "successes_before": [won for _, won in of_groups],
        }
        if job_class in self._last:
            facts["last_in_class"], facts["last_succeeded"] = self._last[job_class]
        return facts

    def go_on(self, job_class: str, choice: str | None, is_success: bool | None) -> None:
        if choice is None:
            return
        if is_success is None:
            self._is_known = False
            return
        count = self._tries.setdefault(job_class, {}).setdefault(choice, [0, 0])
        count[0] += 1
        count[1] += is_success
        self._last[job_class] = choice, is_success


def _chances_by_class(data: AllocationData) -> dict[str, list[float]]:
    """Return the chances of the groups that the study gives for each class; nothing if it draws them for each game, or
    gives them by job."""
    success, n = data.success, len(data.groups)
    if success.kind == "constant":
        return {each.name: [success.rates[0]] * n for each in data.classes}
    return {each.name: list(of) for each, of in zip(data.classes, success.of_class, strict=False)}


def _success(cells: Cells) -> bool | None:
    said = next((known for name in _SUCCESS if (known := cell_text(cells, name).lower())), "")
    if said and said not in (*_TRUE, *_FALSE):
        raise StudyError(_OTHER_SCALE)
    return said in _TRUE if said else None
