"""Plan a design: what one model is asked under one seed, in order; conversations are made on demand.

A run that resumes looks at a million ids and makes few of their trials, so a plan goes over places: small values, each
for one conversation. A simulated server, which gets nothing but a prompt, finds the place by its hash.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from slant.collector.records import Conversation, Prompt, Reply, Trial
from slant.collector.stable_ids import stable_id
from slant.collector.study.records import StudyFile, StudyModel

if TYPE_CHECKING:
    from slant.collector.designs.asks import Asks

Place = TypeVar("Place")


class Plan(ABC, Generic[Place]):
    """Plan one study, one model and one seed."""

    mixes_tests = False
    """True if each conversation has trials of several tests, equally many in each conversation."""

    @abstractmethod
    def places(self, repetitions: int) -> Iterator[Place]:
        """Yield a place for each conversation, in the order of asking; lazily, so that memory does not grow with the
        plan."""

    @abstractmethod
    def conversation(self, place: Place, number: int) -> Conversation:
        """Return the conversation at a place; `number` of them come before it, which decides the `position` of a
        trial.
        """

    def trial_ids(self, place: Place) -> tuple[str, ...]:
        """Return the ids of its trials; a large design has a quicker way."""
        return tuple(trial.trial_id for trial in self.conversation(place, 0).trials)

    def conversation_id(self, place: Place) -> str:
        return self.conversation(place, 0).conversation_id

    def n_trials(self, place: Place) -> int:
        return len(self.trial_ids(place))

    def cell(self, place: Place) -> tuple[str, str]:
        """Return test and condition of its first trial, which shards balance; a large design has a quicker way."""
        first = self.conversation(place, 0).trials[0]
        return first.test, first.condition


class QuestionPlan(Plan[Place]):
    """Plan a design whose conversations are single questions: one trial each, whose id is also the conversation's."""

    @abstractmethod
    def trial(self, place: Place, position: int) -> Trial: ...

    @abstractmethod
    def trial_id(self, place: Place) -> str: ...

    def conversation(self, place: Place, number: int) -> Conversation:
        trial = self.trial(place, number)
        return Conversation(trial.trial_id, (trial,))

    def trial_ids(self, place: Place) -> tuple[str, ...]:
        return (self.trial_id(place),)

    def conversation_id(self, place: Place) -> str:
        return self.trial_id(place)

    def n_trials(self, place: Place) -> int:
        return 1


def trial_of(study: StudyFile, model: StudyModel, trial_id: str, **asked: Any) -> Trial:
    """Return a trial of this study that a model is asked; without options, unless `asked` has them."""
    usual = {"wording": 1, "option_a": None, "option_b": None, "expected": None} | asked
    return Trial(trial_id, study.name, study.version, study.variant, model.model, **usual)


class TurnPlan(Plan[Any]):
    """Plan conversations whose turns are parts of one question; `whole` plans the same, each as one question."""

    def __init__(self, whole: QuestionPlan[Any], max_turns: int) -> None:
        self._whole, self._max_turns = whole, max_turns

    def places(self, repetitions: int) -> Iterator[Any]:
        return self._whole.places(repetitions)

    def conversation_id(self, place: Any) -> str:
        return self._whole.trial_id(place)

    def cell(self, place: Any) -> tuple[str, str]:
        return self._whole.cell(place)

    def conversation(self, place: Any, number: int) -> Conversation:
        whole = self._whole.trial(place, number * self._max_turns)
        return Conversation(whole.trial_id, tuple(self.turns(whole)))

    @abstractmethod
    def turns(self, whole: Trial) -> Iterator[Trial]:
        """Yield the turns of a conversation."""


def turn_of(whole: Trial, turn: int, factors: Mapping[str, Any], test: str | None = None) -> Trial:
    """Return the turn with this number (from 1) as a trial with its own factors."""
    return replace(
        whole,
        trial_id=stable_id(whole.trial_id, turn),
        test=test or whole.test,
        game=whole.trial_id,
        round=turn,
        position=None if whole.position is None else whole.position + turn - 1,
        factors=factors,
    )


class PromptIndex(Generic[Place]):
    """Find places of a plan by their prompts (about 24 bytes per entry, not a whole trial); `trial` makes the trial
    there."""

    def __init__(self, prompts: Iterable[tuple[Place, Prompt]], trial: Callable[[Place], Trial]) -> None:
        self._places = {bytes.fromhex(prompt.hash): place for place, prompt in prompts}
        self._trial = trial

    def find(self, messages: Sequence[Any]) -> Trial | None:
        place = self._places.get(bytes.fromhex(Prompt(tuple(messages)).hash))
        return None if place is None else self._trial(place)


_INDEXES: dict[tuple[str, ...], PromptIndex[Any]] = {}


def index_prompts(
    study: StudyFile, model: StudyModel, make: Callable[[StudyFile, StudyModel], PromptIndex[Any]]
) -> PromptIndex[Any]:
    """Index a study's prompts for one model; made once (about half a second for 12,920 prompts)."""
    key = (str(study.path), study.version, study.variant, model.model, model.frame, str(model.structured_output))
    if key not in _INDEXES:
        _INDEXES[key] = make(study, model)
    return _INDEXES[key]


def quoted_answer(reply: Reply) -> tuple[dict[str, Any], ...]:
    """Return the message of the assistant, with what its provider wants back of it. It is empty if nothing was said:
    some providers refuse an empty message."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.answer or ""}
    message |= {"blocks": reply.blocks} if reply.blocks else {}
    return (message,) if reply.blocks or reply.tool_calls or (reply.answer or "").strip() else ()


class ShuffledQuestions(QuestionPlan[tuple[int, int]]):
    """Plan the questions of designs without a plan; a place is the number of a question and a repetition."""

    def __init__(self, asks: Asks, study: StudyFile, model: StudyModel, seed: int) -> None:
        self._asks, self._study, self._model, self._seed = asks, study, model, seed
        questions = asks.questions(study, model)
        self._questions = questions if isinstance(questions, Sequence) else list(questions)

    def places(self, repetitions: int) -> Iterator[tuple[int, int]]:
        order = array("I", range(len(self._questions) * repetitions))
        random.Random(self._seed).shuffle(order)
        for number in order:
            repetition, place = divmod(number, len(self._questions))
            yield place, repetition + 1

    def trial_id(self, place: tuple[int, int]) -> str:
        return self.trial(place, 0).trial_id

    def cell(self, place: tuple[int, int]) -> tuple[str, str]:
        return self._questions[place[0]].test, self._questions[place[0]].condition

    def trial(self, place: tuple[int, int], position: int) -> Trial:
        study, model, question = self._study, self._model, self._questions[place[0]]
        cell = (question.test, question.condition, question.group, question.item, question.wording)
        sent = (model.model, model.provider, model.requested_model, model.frame, dict(model.settings))
        enforced = ["structured_output"] if model.structured_output else []
        trial_id = stable_id(study.name, study.variant, *sent, *enforced, self._seed, place[1], *cell)
        asked: dict[str, Any] = {field.name: getattr(question, field.name) for field in fields(question)}
        trial = trial_of(study, model, trial_id, repetition=place[1], position=position, **asked)
        content = self._asks.content(study, model, trial)
        return replace(trial, trial_id=stable_id(content, trial.trial_id), content=content)
