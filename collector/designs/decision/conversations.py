"""The conversations of a decision study, each of as many turns as its scene has tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from slant.collector.designs.decision.scenes import DecisionData
from slant.collector.designs.plan import Plan, QuestionPlan
from slant.collector.records import Conversation, Trial, stable_id

_OF_PAIRING = ("words", "poles")


class Conversations(Plan[Any]):
    """`questions` are the same conversations, each as one question."""

    def __init__(self, questions: QuestionPlan[Any], data: DecisionData) -> None:
        self._questions = questions
        self._data = data
        self._most_turns = max(len(scene.tasks) for scene in data.scenes.values())

    def places(self, repetitions: int) -> Iterator[Any]:
        return self._questions.places(repetitions)

    def conversation_id(self, place: Any) -> str:
        return self._questions.trial_id(place)

    def cell(self, place: Any) -> tuple[str, str]:
        return self._questions.cell(place)

    def conversation(self, place: Any, number: int) -> Conversation:
        whole = self._questions.trial(place, number * self._most_turns)
        kinds = whole.factors["tasks"]
        turns = tuple(_turn(whole, kind, turn, len(kinds)) for turn, kind in enumerate(kinds, 1))
        return Conversation(whole.trial_id, turns)


def _turn(whole: Trial, kind: str, turn: int, n_turns: int) -> Trial:
    """One turn, with what its task is about among its factors."""
    factors = {name: value for name, value in whole.factors.items() if kind == "pairing" or name not in _OF_PAIRING}
    return replace(
        whole,
        trial_id=stable_id(whole.trial_id, turn),
        game=whole.trial_id,
        round=turn,
        position=(whole.position or 0) + turn - 1,
        factors={**factors, "tasks": [kind], "n_turns": n_turns},
    )
