"""Which trials a study has for a model, looked up by what a file says of one: test, condition, word, group, wording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slant.collector.importing.layouts.values import CellError, condition, shown, whole_number, word
from slant.collector.plan.conversations import plan
from slant.collector.records import Trial
from slant.collector.study.records import Study, StudyModel


class PlannedCells:
    """The plan of one repetition, as an index. A word that the study doesn't have takes its group's place in it."""

    def __init__(self, study: Study, model: StudyModel) -> None:
        self._by_word: dict[tuple[str, str, int, str, int], Trial] = {}
        self._by_group: dict[tuple[str, str, int, str], Trial] = {}
        self._groups: dict[str, dict[str, None]] = defaultdict(dict)
        self._conditions: dict[str, None] = {}
        self._wordings: set[int] = set()
        self._tests = [test.test for test in study.tests]
        for conversation in plan(study, model):
            for trial in conversation.trials:
                place = (trial.test, trial.condition, trial.wording)
                self._by_word[*place, trial.item.casefold(), trial.round or 1] = trial
                self._by_group.setdefault((*place, trial.group), trial)
                self._groups[trial.test][trial.group] = None
                self._conditions[trial.condition] = None
                self._wordings.add(trial.wording)

    def find(self, draft: Mapping[str, Any], turn: int = 1) -> tuple[Trial, bool]:
        """The planned trial of a draft's cell, and of this turn; whether the study knows its word. CellError without
        such a cell."""
        test, item = word(draft.get("test")), word(draft.get("item"))
        if test not in self._groups:
            raise CellError(f"test must be one of {', '.join(self._tests)}, but is {shown(test)}")
        wording = whole_number(draft.get("wording"), "wording", 1)
        if wording not in self._wordings:
            raise CellError(f"wording must be one of the study's {len(self._wordings)}, but is {wording}")
        place = (test, condition(draft.get("condition"), tuple(sorted(self._conditions))), wording)
        if not item:
            raise CellError("the word is empty")
        known = self._by_word.get((*place, item.casefold(), turn))
        if known is not None:
            return known, True
        group = matching_group(word(draft.get("group")), self._groups[test])
        return replace(self._by_group[*place, group], item=item, factors={}), False


def matching_group(label: str, groups: Iterable[str]) -> str:
    """The one group that a label means: `european_american_bertrand` is "European Americans", `young` "Young People".

    One of the two must begin with the other; case, underscores and a plural's s don't matter.
    """
    plain_label = _plain(label)
    matching = [
        group
        for group in groups
        if plain_label and (plain_label.startswith(_plain(group)) or _plain(group).startswith(plain_label))
    ]
    if len(matching) != 1:
        known = " and ".join(groups)
        raise CellError(f"the study doesn't know the word, and the group {shown(label)} is none of its own: {known}")
    return matching[0]


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split()).removesuffix("s")
