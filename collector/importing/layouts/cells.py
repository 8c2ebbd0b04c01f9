"""Which trials a study has for a model, looked up by what a file says of one: test, condition, word, group, wording."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sized
from dataclasses import replace
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.importing.layouts.values import (
    CellError,
    composed,
    condition,
    is_empty,
    matching_name,
    shown,
    whole_number,
    word,
)
from slant.collector.plan.conversations import plan
from slant.collector.records import Trial
from slant.collector.study.records import StudyModel

Place = tuple[str, str, int, int]
"""Test, condition, wording, and the turn of a conversation (1 if a question is asked alone)."""
_OF_PLACE = ("test", "condition", "wording")
_DECIMALS = re.compile(r"\.0+$")


class PlannedCells:
    """Index the plan of one repetition. A word that the study doesn't have takes its group's place in it."""

    def __init__(self, study: Study, model: StudyModel) -> None:
        self._trials: dict[Place, dict[str, list[Trial]]] = defaultdict(lambda: defaultdict(list))
        self._items: dict[Place, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._groups: dict[str, dict[str, None]] = defaultdict(dict)
        self._conditions: dict[str, None] = {}
        self._item_names: dict[str, None] = {}
        self._wordings: dict[int, None] = {}
        self._places_of_items: dict[str, dict[Place, None]] = defaultdict(dict)
        self._names: dict[tuple[str, str], str] = {}
        self._only_places: dict[tuple[object, ...], Place | None] = {}
        self._tests = [test.test for test in study.tests]
        self._turns: dict[str, set[int]] = defaultdict(set)
        for conversation in plan(study, model):
            for trial in conversation.trials:
                place = (trial.test, trial.condition, trial.wording, trial.round or 1)
                item = composed(trial.item)
                if item not in self._trials[place]:
                    self._items[place][item.casefold()].append(item)
                self._trials[place][item].append(trial)
                self._groups[trial.test][trial.group] = None
                self._conditions[trial.condition] = None
                self._turns[trial.test].add(trial.round or 1)
                self._wordings[trial.wording] = None
                self._item_names[item] = None
                self._places_of_items[item.casefold()][place] = None

    @property
    def wordings(self) -> tuple[int, ...]:
        return tuple(self._wordings)

    @property
    def said_by_study(self) -> set[str]:
        """Return the columns that rows may lack, because the study has only one value of each."""
        sets: dict[str, Sized] = {
            "test": self._tests,
            "condition": self._conditions,
            "wording": self._wordings,
            "item": self._item_names,
        }
        return {name for name, values in sets.items() if len(values) <= 1}

    @property
    def tests_say_turns(self) -> bool:
        """Return True if each test is one turn of its conversation, so that no row needs to number it."""
        return all(len(turns) == 1 for turns in self._turns.values())

    def turn_of(self, draft: Mapping[str, Any]) -> int | None:
        """Return the turn that a draft's test is; None if it may be several."""
        turns = self._turns.get(self._test(word(draft.get("test"))), set())
        return next(iter(turns)) if len(turns) == 1 else None

    def find(self, draft: Mapping[str, Any], turn: int = 1) -> tuple[Trial, bool]:
        """Return the planned trial of a draft's cell, and of this turn; whether the study knows its word. CellError
        without such a cell.
        """
        item = composed(word(draft.get("item")))
        place = self._only_place(draft, item, turn)
        if place is None:
            test, wording = self._test(word(draft.get("test"))), self._wording(draft.get("wording"))
            place = test, self._condition(word(draft.get("condition"))), wording, turn
        known = self._known(place, item)
        if known:
            return (known[0] if len(known) == 1 else _of_group(known, word(draft.get("group")), item)), True
        if not item:
            raise CellError("the word is empty")
        return replace(self._stand_in(place, word(draft.get("group")), item), item=item, factors={}), False

    def _only_place(self, draft: Mapping[str, Any], item: str, turn: int) -> Place | None:
        """Return the place of a draft that leaves some of it out, if what it says is found in one place alone."""
        said = tuple("" if is_empty(draft.get(name)) else word(draft.get(name)) for name in _OF_PLACE)
        known = self._places_of_items.get(item.casefold()) if item else dict.fromkeys(self._trials)
        if all(said) or known is None:
            return None
        key = (*said, item.casefold(), turn)
        if key not in self._only_places:
            wanted = (
                self._test(said[0]) if said[0] else None,
                self._condition(said[1]) if said[1] else None,
                self._wording(said[2]) if said[2] else None,
            )
            found = [
                place
                for place in known
                if place[3] == turn and all(w in (None, p) for w, p in zip(wanted, place[:3], strict=True))
            ]
            self._only_places[key] = found[0] if len(found) == 1 else None
        return self._only_places[key]

    def place_in_id(self, name: str) -> dict[str, Any] | None:
        """Return test, condition, item and wording that an id names in any order with any sign between them, as
        "rose|compatible|1" does; None if that is no trial of the study, or several."""
        for sign in SIGNS_IN_IDS:
            parts = [composed(part.strip()).casefold() for part in name.split(sign)]
            if len(parts) > 1 and (found := self._named_by(parts)):
                return found
        return None

    def _named_by(self, parts: list[str]) -> dict[str, Any] | None:
        found = []
        for item in parts:
            rest = list(parts)
            rest.remove(item)
            for test, condition_name, wording, turn in self._places_of_items.get(item, ()):
                says = (condition_name.casefold() in rest or len(self._conditions) == 1) and (
                    str(wording) in rest or len(self._wordings) == 1
                )
                if says and turn == 1:
                    is_named = test.casefold() in rest
                    found.append(
                        (is_named, {"test": test, "condition": condition_name, "item": item, "wording": wording})
                    )
        best = [place for is_named, place in found if is_named == any(named for named, _ in found)]
        return best[0] if len(best) == 1 else None

    def _known(self, place: Place, item: str) -> list[Trial]:
        trials = self._trials.get(place)
        if not trials:
            return []
        if item in trials:
            return trials[item]
        alike = self._items[place].get(item.casefold(), [])
        if len(alike) > 1:
            raise CellError(f"items of the study differ in capitals alone ({', '.join(alike)}), but is {shown(item)}")
        if alike:
            return trials[alike[0]]
        if not item and len(trials) == 1:
            return next(iter(trials.values()))
        return trials.get(_DECIMALS.sub("", item), [])  # pandas writes numbers next to empty cells so

    def _stand_in(self, place: Place, label: str, item: str) -> Trial:
        test = place[0]
        if set(self._groups[test]) == {""}:
            known = [trials[0].item for trials in self._trials.get(place, {}).values()]
            listed = f"{', '.join(known[:8])}{' …' if len(known) > 8 else ''}" or "none in this condition and wording"
            raise CellError(f"item must be one of the study's {len(known)} ({listed}), but is {shown(item)}")
        group = matching_group(label, self._groups[test])
        for trials in self._trials.get(place, {}).values():
            for trial in trials:
                if trial.group == group:
                    return trial
        raise CellError(f"the study asks nothing of {group} in this condition and wording")

    def _test(self, name: str) -> str:
        if ("test", name) not in self._names:
            only = self._tests[0] if not name and len(self._tests) == 1 else None
            test = only or matching_name(name, self._tests)
            if test is None:
                raise CellError(f"test must be one of {', '.join(self._tests)}, but is {shown(name)}")
            self._names["test", name] = test
        return self._names["test", name]

    def _condition(self, name: str) -> str:
        if ("condition", name) not in self._names:
            only = next(iter(self._conditions)) if not name and len(self._conditions) == 1 else None
            self._names["condition", name] = condition(name, tuple(sorted(self._conditions))) if only is None else only
        return self._names["condition", name]

    def _wording(self, value: Any) -> int:
        if is_empty(value) and len(self._wordings) == 1:
            return next(iter(self._wordings))
        if is_empty(value):
            raise CellError(
                "wording must be a whole number, or a column template have a name: nothing says which of the study's "
                f"{len(self._wordings)} was shown"
            )
        wording = whole_number(value, "wording", min(1, *self._wordings) if self._wordings else 1)
        if wording not in self._wordings:
            raise CellError(f"wording must be one of the study's {len(self._wordings)}, but is {wording}")
        return wording


SIGNS_IN_IDS = ("|", "::", "__", "/", ";", ":", ",", "~", "-", "_", " ")


def _of_group(known: list[Trial], label: str, item: str) -> Trial:
    groups = {trial.group: trial for trial in known}
    named = matching_name(label, groups) if label else None
    if named is None and label:
        named = matching_group(label, groups)
    if named is None:
        raise CellError(f"{shown(item)} is in several groups ({', '.join(groups)}): a column group must say which")
    return groups[named]


def matching_group(label: str, groups: Iterable[str]) -> str:
    """Return the one group that a label means: `european_american_bertrand` is "European Americans", `young` "Young
    People".

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
