"""Read rounds, questions and ratings of games that others have played from rows: a game goes its own way, so no plan
knows who was offered, and who would have succeeded is known only if the row says it (as an export does)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from slant.collector.designs.allocation.games import ELICITATION, EVERYONE, QUESTIONS, RATINGS, ROUNDS, game_content
from slant.collector.designs.allocation.parts import AllocationData
from slant.collector.designs.people import ImportedTurn, TurnReader
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
    common = {
        "answer_format": frame,
        "n_rounds": data.games if data.is_pooled else data.n_rounds,
        "groups": list(data.groups),
        "class_sizes": [len(each.jobs) for each in data.classes],
    }
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
    """Return what a row says about its game, if it is possible; what the study says about all games takes
    precedence."""
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
