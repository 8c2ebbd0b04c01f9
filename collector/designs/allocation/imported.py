"""Read rounds, questions and ratings of games that others have played from rows: a game goes its own way, so no plan
knows who was offered, and who would have succeeded is known only if the row says it (as an export does). People's
games have one round per row, with the group that was chosen and how that turned out.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slant.collector.designs.allocation.games import ELICITATION, EVERYONE, QUESTIONS, RATINGS, ROUNDS, game_content
from slant.collector.designs.allocation.parts import AllocationData
from slant.collector.designs.people import (
    Cells,
    ImportedTurn,
    PeopleUnits,
    PlacedAnswer,
    TurnReader,
    cell_text,
    rounds_in_order,
)
from slant.collector.designs.plan import trial_of
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded
from slant.collector.records import Trial
from slant.collector.stable_ids import stable_id
from slant.collector.study.records import StudyFile, StudyModel

_ID = re.compile(r"[0-9a-f]{32}")
_NUMBERS = (int, float)
_KINDS: Mapping[str, tuple[type, ...]] = {
    "groups_shown": (list,), "would_succeed": (list,), "p_by_group": (list,), "best_by_class": (list,),
    "features": (list,), "candidates": (list,), "ranks": (list,), "tries_before": (list,), "successes_before": (list,),
    "reminders": (int,), "last_in_class": (str,), "last_succeeded": (bool,), "points_before": _NUMBERS,
    "n_hires": (int,), "n_successes": (int,), "is_success": (bool,), "p_success": _NUMBERS, "points": _NUMBERS,
    "bonus": _NUMBERS, "game_over": (str,), "n_not_asked": (int,), "not_asked": (dict,), "served_model_before": (str,),
}  # fmt: skip
"""List what an export says about a round in addition to what the study says about all; other columns are ignored."""
_OF_ALL_GROUPS = ("p_by_group", "tries_before", "successes_before")


def turn_reader(study: StudyFile, model: StudyModel) -> TurnReader:
    """Make this model's rows trials of the games."""
    data: AllocationData = study.data
    frame = model.frame or study.frame
    common = data.facts(frame)
    content = game_content(study, frame)

    def read(row: ImportedTurn) -> tuple[str, Trial]:
        test = _test(data, row.test)
        condition, item = _place(data, test, row)
        facts = _checked(data, row.factors, common)
        if test == RATINGS:
            facts["scale"] = next([one.low, one.high] for one in data.ratings if one.name == condition)
        if row.is_success is not None and test == ROUNDS:
            facts.setdefault("is_success", row.is_success)
        round_no = _round(data, test, row)
        if not row.game:
            raise StudyError("says of no game which it is: a column game must name it")
        names = (study.name, "imported", study.variant, model.model)
        game = row.game if _ID.fullmatch(row.game) else stable_id(*names, row.game)
        trial_id = stable_id(*names, game, test, condition, item, round_no)
        trial = trial_of(
            study,
            model,
            trial_id,
            test=test,
            condition=condition,
            item=item,
            group=item if test == RATINGS else EVERYONE,
            expected=_expected(data, test, condition, facts),
            repetition=row.number,
            position=None,
            game=game,
            round=round_no,
            factors=facts,
            content=content,
        )
        return (trial_id if data.is_pooled else game), trial

    return read


def _test(data: AllocationData, name: str) -> str:
    after = (*((QUESTIONS,) if data.asks_after else ()), *((RATINGS,) if data.ratings else ()))
    known = (ELICITATION,) if data.task == ELICITATION else (ROUNDS, *after)
    if name and name not in known:
        raise StudyError(f'test must be one of {", ".join(known)}, but is "{name}"')
    return name or known[0]


def _place(data: AllocationData, test: str, row: ImportedTurn) -> tuple[str, str]:
    """Return the class and its job; for a rating its name and the group."""
    places = (
        [(rating.name, group) for rating in data.ratings for group in data.groups]
        if test == RATINGS
        else [(each.name, job) for each in data.classes for job in each.jobs]
    )
    names = (folded(row.condition), folded(row.item or row.group))
    if len(places) == 1 and names == ("", ""):
        return places[0]
    found = [place for place in places if folded(place[1]) == names[1] and names[0] in ("", folded(place[0]))]
    if len(found) != 1:
        raise StudyError(
            f'has "{row.condition}" and "{row.item}", which is no job (or group) of the study in its class'
        )
    return found[0]


def _round(data: AllocationData, test: str, row: ImportedTurn) -> int | None:
    if test not in (ROUNDS, ELICITATION):
        return row.number if data.is_pooled and test == RATINGS else None
    most = data.games if data.is_pooled else data.n_rounds
    if row.round is None or not 1 <= row.round <= most:
        raise StudyError(f"round must be a number from 1 to {most}, but is {row.round}")
    return row.round


def _checked(data: AllocationData, factors: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row's fields about its game, if they are valid; fields of the study take precedence."""
    answer_format = factors.get("answer_format", common["answer_format"])
    if answer_format not in data.texts.answers:
        raise StudyError(f'answer_format must be one of {", ".join(data.texts.answers)}, but is "{answer_format}"')
    given: dict[str, Any] = {name: value for name, value in factors.items() if isinstance(value, _KINDS.get(name, ()))}
    for name in _OF_ALL_GROUPS:
        if name in given and len(list(given[name])) != len(data.groups):
            raise StudyError(f"{name} must have a number for each of the {len(data.groups)} groups")
    known = {**common, "answer_format": answer_format}
    ordered = {name: known.get(name, given.get(name)) for name in factors if name in known or name in given}
    return {**ordered, **{name: value for name, value in known.items() if name not in ordered}}


def _expected(data: AllocationData, test: str, condition: str, facts: Mapping[str, Any]) -> str | None:
    best, ranks = facts.get("best_by_class"), facts.get("ranks")
    names = [each.name for each in data.classes]
    expected = (
        ranks[0] if test == QUESTIONS and ranks
        else best[names.index(condition)] if test == ROUNDS and best and len(best) == len(names) else None
    )  # fmt: skip
    return expected if expected in data.groups else None


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
