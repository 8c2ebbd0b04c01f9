"""Make a study of decisions from the published lists and prompts of Bai et al. (2025) in a folder.

Next to the files of a study of pairings (designs/pairing/published_lists.py): `decision_words.csv` (stereotype,
variation, side, word) and, in `prompts.csv`, the tasks `decision`, `chained` and `absolute`; a clone of the authors'
repository has both in its scripts. Each is one message: the relative decisions are the study itself, the chained and
absolute ones its variants. None of it ships with slant.

Answers of people: a row says which two people and words they saw, and what they decided.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from slant.collector.designs.asks import Asks, Question
from slant.collector.designs.decision.scenes import BETWEEN, DecisionData, Scene
from slant.collector.designs.pairing.published_lists import (
    LISTS_ONLY,
    MODELS,
    TESTS,
    PublishedFolder,
    known_test,
    like_theirs,
    read_words,
    tests_text,
)
from slant.collector.designs.people import Cells, PeopleUnits, PlacedAnswer, cell_text, shown_trial
from slant.collector.designs.wordings import ATTRIBUTES, GROUPS
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.reading.spelling import folded
from slant.collector.records import Trial
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.system.files import csv_text

_SIDES = {"positive": "attribute_a", "negative": "attribute_b"}
_CATEGORIES = {"group_a": "default", "group_b": "stigma", "attribute_a": "positive", "attribute_b": "negative"}
_SHOWN = {
    "{group0}": "{group_1}", "{group1}": "{group_2}", "{attribute0}": "{attribute_1}", "{attribute1}": "{attribute_2}",
    "{attributes}": "{words}",
}  # fmt: skip
_FIXED = {
    "{group0}": "{group_a}", "{group1}": "{group_b}", "{attribute0}": "{attribute_a}", "{attribute1}": "{attribute_b}",
}  # fmt: skip
_ABOUT = {"default": "a", "stigma": "b", "positive": "a", "negative": "b"}
_KINDS = {"decision": ("profiles", "decision"), "chained": ("pairing", "profiles", "decision")}
_KINDS["absolute"] = ("profiles", "question")
_NAMED = re.compile(r"\b(White) and an? ([A-Z]\w+)")
"""Match where a text names the groups itself."""
CHAINED, ASSOCIATION = "chained", "association"
Lists = dict[str, dict[str, list[str]]]
"""Hold words by list and side."""


def study_files(template: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the files of a study by name; `template` has those to start from. Raise StudyError if the folder lacks a
    file, a column or a text.
    """
    published = PublishedFolder(folder)
    prompts = published.prompts(_KINDS)
    if published.has_lists_only:
        plain = read_words(published.file("iat_stimuli.csv"), "C")
        return {
            "study.toml": like_theirs(template["study.toml"], {r"^draws = \d+ ": "draws = 50 ", **LISTS_ONLY}),
            "tests.csv": tests_text(published),
            "stimuli.csv": _stimuli_text({test: {"": _sides(of_test)} for test, of_test in plain.items()}),
            **{file: template[file] for file in ("scenes.csv", "chained.csv")},
        }
    if missing := set(_KINDS) - {row["task"] for row in prompts}:
        raise StudyError(f'There is no text of the task "{sorted(missing)[0]}" for the models "{MODELS}" in {folder}.')
    lists = _lists(published, prompts)
    return {
        "study.toml": like_theirs(template["study.toml"], _CHANGES),
        "tests.csv": tests_text(published),
        "stimuli.csv": _stimuli_text(lists),
        **{
            file: csv_text(("test", "wording", "name", "task", "text", "words", "about"), _scenes(prompts, task, lists))
            for task, file in (("decision", "scenes.csv"), ("chained", "chained.csv"), ("absolute", "absolute.csv"))
        },
    }


def _sides(of_test: Mapping[str, list[str]]) -> dict[str, list[str]]:
    words, half = of_test["shown"], len(of_test["shown"]) // 2
    groups = {"group_a": of_test["A"], "group_b": of_test["B"]}
    return {**groups, "attribute_a": words[:half], "attribute_b": words[half:]}


_CHANGES = {
    r"^draws = \d+ ": "draws = 50 ",
    r'^form = "conversation".*$': 'form = "message"',
    r"^\[variants\.one_message\.prompt\]\n.*\n": '[variants.absolute.prompt]\nscenes = "absolute.csv"\n',
    r"^# The same in one message, and with": "# A question about one person; and with",
    r"\Z": """
# As the authors have it: their codings of decision and D, and D where a group without words has a share of 0.
[fits.chained_coded]
engine = "logistic"
view = "decision_trials"
formula = "coded_decision ~ coded_d"
by = ["model"]
drop_outcomes = []                    # a coding decides where no rule does
settings = { cluster = "test" }

[fits.chained_filled]
engine = "logistic"
view = "decision_trials"
formula = "coded_decision ~ d_filled"
by = ["model"]
drop_outcomes = []                    # a coding decides where no rule does
settings = { cluster = "test" }
""",
}


def _lists(published: PublishedFolder, prompts: Iterable[Mapping[str, str]]) -> dict[str, Lists]:
    """Return words by test and list. The list "" is that of the first variation; another has only what differs. The
    list "chained" is what a chained prompt pairs: the words of the association test or, in tests of jobs, the full
    names and the jobs behind the synonyms; some of their published answers still use the list "association"."""
    usual, synonyms = published.file("iat_stimuli.csv"), published.file("iat_stimuli_synonym.csv")
    plain, full, low = read_words(usual, "C"), read_words(synonyms, "D"), read_words(synonyms, "C")
    lists: dict[str, Lists] = {test: {} for test in plain}
    words_of_decisions = published.words_of_decisions()
    first = words_of_decisions[0]["variation"]
    for row in words_of_decisions:
        test = TESTS.get(row["stereotype"], row["stereotype"])
        name = "" if row["variation"] == first else row["variation"]
        if test not in lists or row["side"] not in _SIDES:
            raise StudyError(f'There is a word of "{row["stereotype"]}", {row["side"]}, which are unknown.')
        lists[test].setdefault(name, {}).setdefault(_SIDES[row["side"]], []).append(row["word"])
    named = {
        TESTS.get(row["stereotype"], row["stereotype"]): found.groups()
        for row in prompts
        if row["task"] == "decision" and (found := _NAMED.search(row["text"]))
    }
    for test, of_test in lists.items():
        if len(of_test.get("", ())) < len(_SIDES):
            raise StudyError(f'The folder lacks words of "{test}" in the variation {first} of decisions.')
        sides = _sides(plain[test])
        plain_groups = groups = {side: sides[side] for side in ("group_a", "group_b")}
        plain_words = words = {side: sides[side] for side in ("attribute_a", "attribute_b")}
        if test in named:
            jobs = known_test(full, test, "a text that names its groups")["shown"][len(plain[test]["shown"]) // 2 * 2 :]
            words = {"attribute_a": jobs, "attribute_b": low[test]["shown"][-len(jobs) :]}
            groups = {f"group_{side}": [name] for side, name in zip("ab", named[test], strict=True)}
            of_test[CHAINED] = {"group_a": full[test]["A"], "group_b": full[test]["B"], **words}
            of_test[ASSOCIATION] = {**plain_groups, **plain_words}
        else:
            of_test[CHAINED] = words
        of_test[""] = {**groups, **of_test[""]}
        for name in set(of_test) - {"", CHAINED, ASSOCIATION}:
            if all(words == of_test[""][side] for side, words in of_test[name].items()):
                del of_test[name]
    return lists


def _stimuli_text(lists: Mapping[str, Lists]) -> str:
    stimuli = (
        (test, side, _CATEGORIES[side], word, name)
        for test, of_test in lists.items()
        for name, by_side in of_test.items()
        for side, words in by_side.items()
        for word in dict.fromkeys(words)
    )
    return csv_text(("test", "side", "group", "word", "words"), stimuli)


def _scenes(
    prompts: Iterable[Mapping[str, str]], task: str, lists: Mapping[str, Lists]
) -> Iterator[tuple[str, str, str, str, str, str, str]]:
    rows = [row for row in prompts if row["task"] == task]
    names = list(dict.fromkeys(row["variation"] for row in rows))
    for row in rows:
        test, kinds = TESTS.get(row["stereotype"], row["stereotype"]), _KINDS[task]
        parts = re.split(r"\n\n(?=Task [2-9]:)", row["text"])
        parts += [""] * (len(kinds) - len(parts))  # one text without headings asks for everything
        if BETWEEN.join(filter(None, parts)) != row["text"] or len(parts) != len(kinds):
            raise StudyError(f"The text of {task}, {test}, {row['variation']} has not {len(kinds)} tasks.")
        known_test(lists, test, "prompts.csv")
        about = _about(row["variation"]) if task == "absolute" else ""
        for kind, part in zip(kinds, parts, strict=True):
            for theirs, ours in (_FIXED if task == "absolute" else _SHOWN).items():
                part = part.replace(theirs, ours)
            own = kind == "pairing" or (task == "chained" and "group_a" in lists[test][CHAINED])
            words = (
                CHAINED if task == "chained" and own else row["variation"] if row["variation"] in lists[test] else ""
            )
            yield test, str(names.index(row["variation"]) + 1), row["variation"], kind, part, words, about


def _about(variation: str) -> str:
    """Return the sides of the group and the attribute that a question is about: "default_negative"."""
    parts = variation.split("_")
    if unknown := next((part for part in parts if part not in _ABOUT), None):
        raise UnknownNameError(f"side (of the variation {variation}) in prompts.csv", unknown, _ABOUT)
    return "".join(_ABOUT[part] for part in parts)


ASKED = "asked"
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "group_a": ("option_a", "group_a", "group_1"),
    "group_b": ("option_b", "group_b", "group_2"),
    "attribute_a": ("attribute_a", "word_a", "attribute_1"),
    "attribute_b": ("attribute_b", "word_b", "attribute_2"),
}
"""Name the columns of each name and word; which side it is on is known from the lists of the test."""


class MadeDecisions(PeopleUnits):
    """Read rows of decisions: a row is one, with its names and words, or with the draw of the plan (`item`)."""

    def __init__(self, asks: Asks, study: StudyFile, model: StudyModel) -> None:
        self._asks, self._study, self._model = asks, study, model
        self._data: DecisionData = study.data
        self._drawn = {
            (question.test, question.wording, folded(question.item)): question
            for question in asks.questions(study, model)
        }
        self._rows = count()
        self.columns = (ASKED, "first_group", "first_attribute", *dict.fromkeys(sum(_COLUMNS.values(), ())))

    def unit(self, cells: Cells) -> Hashable:
        return next(self._rows)

    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        cells = rows[0]
        said = cell_text(cells, "test")
        tests = [name for name in self._data.tests if not said or folded(name) == folded(said)]
        if len(tests) != 1:
            raise StudyError(f'has "{said[:40]}" as test, which must be one of {", ".join(self._data.tests)}')
        [test] = tests
        wording, scene = self._scene(cells, test)
        shown = self._shown(cells, test, wording, scene)
        if said := cell_text(cells, ASKED):
            shown = replace(shown, factors={**shown.factors, ASKED: self._side_asked(said, shown, test, scene)})
        yield PlacedAnswer(self._trial(shown), cell_text(cells, "answer"))

    def _scene(self, cells: Cells, test: str) -> tuple[int, Scene]:
        scenes = {n: scene for n in self._data.wordings if (scene := self._data.scene(test, n)) is not None}
        said, number = cell_text(cells, "condition"), cell_text(cells, "wording").removesuffix(".0")
        found = {
            n: scene
            for n, scene in scenes.items()
            if (not said or folded(scene.condition) == folded(said)) and (not number or str(n) == number)
        }
        if len(found) != 1:
            listed = ", ".join(f"{n} ({scene.condition})" for n, scene in scenes.items())
            raise StudyError(f"must say which wording of {test} was shown, one of {listed}, as wording or condition")
        return next(iter(found.items()))

    def _shown(self, cells: Cells, test: str, wording: int, scene: Scene) -> Question:
        """Return the question that was shown: by the row's own names or, if it has none, by the draw of the plan."""
        said = {
            side: next((text for name in columns if (text := cell_text(cells, name))), "")
            for side, columns in _COLUMNS.items()
        }
        item = cell_text(cells, "item")
        drawn = self._drawn.get((test, wording, folded(item)))
        if drawn is not None and _agree(said, drawn):
            return replace(drawn, factors=_of_decision(scene, drawn.factors))
        if not (said["group_a"] and said["group_b"]):
            raise StudyError("says neither which two people were shown (option_a and option_b) nor which draw (item)")
        lists = self._data.tests[test].words(scene.tasks[-1].words)
        names = _by_side(said, GROUPS, lists)
        words = _by_side(said, ATTRIBUTES, lists)
        facts: dict[str, Any] = {name: word for name, word in words.items() if word}
        for column, shown in (("first_group", names), ("first_attribute", words)):
            side = next((s for s in shown if _is_first(cell_text(cells, column), s, shown[s])), "")
            facts |= {column: side[-1]} if side else {}
        return Question(
            test=test,
            condition=scene.condition,
            item=item or " / ".join(filter(None, (*names.values(), *words.values()))),
            group=self._data.tests[test].group,
            wording=wording,
            option_a=names["group_a"],
            option_b=names["group_b"],
            factors=_of_decision(scene, facts),
        )

    def _side_asked(self, said: str, shown: Question, test: str, scene: Scene) -> str:
        lists = self._data.tests[test].words(scene.tasks[-1].words)
        words = {side: [shown.factors.get(side) or "", *lists[side]] for side in ATTRIBUTES}
        for side, known in words.items():
            if folded(said) in (folded(side), side[-1], *map(folded, known)):
                return side[-1]
        raise StudyError(f'asked for "{said[:40]}", which is not among the words of {test}')

    def _trial(self, question: Question) -> Trial:
        facts = sorted((name, str(value)) for name, value in question.factors.items())
        shown = (question.wording, question.item, question.option_a, question.option_b, facts)
        return shown_trial(self._asks, self._study, self._model, question, shown)


def _of_decision(scene: Scene, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of the last task alone: people decide, and what a model is asked before that is not theirs."""
    kept = {name: facts[name] for name in ("first_group", "first_attribute", *ATTRIBUTES) if name in facts}
    return {"tasks": [scene.kinds[-1]], **kept, **({"about": scene.about} if scene.about else {})}


def _agree(said: Mapping[str, str], drawn: Question) -> bool:
    """Return whether what a row says of names and words is what the draw of the plan has, on either side."""
    names = {folded(name or "") for name in (drawn.option_a, drawn.option_b)}
    words = {folded(drawn.factors[side]) for side in ATTRIBUTES}
    return all(not text or folded(text) in (names if side in GROUPS else words) for side, text in said.items())


def _by_side(said: Mapping[str, str], sides: tuple[str, str], lists: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return both by side, changed over if the lists have them the other way round (a file may have them as shown)."""
    first, second = (said[side] for side in sides)
    of_side = [set(map(folded, lists[side])) for side in sides]
    is_other = folded(first) in of_side[1] or folded(second) in of_side[0]
    is_same = folded(first) in of_side[0] or folded(second) in of_side[1]
    if is_other and is_same:
        raise StudyError(
            f'has "{first[:40]}" and "{second[:40]}" as two of one list: each must be from a different one'
        )
    return dict(zip(sides, (second, first) if is_other else (first, second), strict=True))


def _is_first(said: str, side: str, name: str) -> bool:
    return bool(said) and folded(said) in (side[-1], folded(side), folded(name))
