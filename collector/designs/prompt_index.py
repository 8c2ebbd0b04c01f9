"""Finds what a prompt asks by the prompt's hash: for a simulated server, which is sent nothing but the prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from slant.collector.records import Prompt, Trial
from slant.collector.study.records import Study, StudyModel

_Place = TypeVar("_Place")


class PromptIndex(Generic[_Place]):
    """Places of a plan by their prompts (24 bytes or so an entry, not a whole trial); `trial` makes the trial there."""

    def __init__(self, prompts: Iterable[tuple[_Place, Prompt]], trial: Callable[[_Place], Trial]) -> None:
        self._places = {bytes.fromhex(prompt.hash): place for place, prompt in prompts}
        self._trial = trial

    def find(self, messages: Sequence[Any]) -> Trial | None:
        place = self._places.get(bytes.fromhex(Prompt(tuple(messages)).hash))
        return None if place is None else self._trial(place)


_INDEXES: dict[tuple[str, ...], PromptIndex[Any]] = {}


def index_prompts(
    study: Study, model: StudyModel, make: Callable[[Study, StudyModel], PromptIndex[Any]]
) -> PromptIndex[Any]:
    """The index of a study's prompts for one model; made once (about half a second for 12,920 prompts)."""
    key = (str(study.path), study.version, study.variant, model.model, model.frame, str(model.structured_output))
    if key not in _INDEXES:
        _INDEXES[key] = make(study, model)
    return _INDEXES[key]
