"""Plan a design: what one model is asked under one seed, in order; conversations are made on demand.

A run that resumes looks at a million ids and makes few of their trials, so a plan goes over places: small values, each
for one conversation. A simulated server, which gets nothing but a prompt, finds the place by its hash.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from slant.collector.records import Conversation, Prompt, Trial
from slant.collector.study.records import StudyFile, StudyModel

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
