"""A study of decisions made of the lists and prompts that Bai et al. (2025) published, as they lie in a folder.

Beside the files of a study of pairings (designs/pairing/published_lists.py): `decision_words.csv` (stereotype,
variation, side, word) and, in `prompts.csv`, the tasks `decision`, `chained` and `absolute`. Each is one message: the
relative decisions are the study itself, the chained and the absolute ones its variants. Nothing of it ships with slant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from slant.collector.designs.decision.scenes import BETWEEN
from slant.collector.designs.pairing.published_lists import (
    MODELS,
    TESTS,
    csv_text,
    known_test,
    like_theirs,
    read_rows,
    read_words,
)
from slant.collector.errors import StudyError, UnknownNameError

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
"""Where a text names the groups itself."""
CHAINED, ASSOCIATION = "chained", "association"
Lists = dict[str, dict[str, list[str]]]
"""By list and side: words."""


def study_files(template: str, folder: Path) -> dict[str, str]:
    """The files of a study by name; `template` is the study file to start from. StudyError where the folder lacks a
    file, a column or a text."""
    prompts = [row for row in read_rows(folder / "prompts.csv") if row["task"] in _KINDS]
    prompts = [row for row in prompts if MODELS in row["models"].split("+")]
    if missing := set(_KINDS) - {row["task"] for row in prompts}:
        raise StudyError(f'prompts.csv has no text of the task "{sorted(missing)[0]}" for the models "{MODELS}".')
    stimuli = read_rows(folder / "iat_stimuli.csv")
    kinds = {TESTS.get(row["dataset"], row["dataset"]): row["category"] for row in stimuli}
    lists = _lists(folder, prompts)
    return {
        "study.toml": like_theirs(template, _CHANGES),
        "tests.csv": csv_text(("test", "label", "kind"), ((test, test, kind) for test, kind in kinds.items())),
        "stimuli.csv": csv_text(("test", "side", "category", "word", "words"), _stimuli(lists, kinds)),
        **{
            file: csv_text(("test", "wording", "name", "task", "text", "words", "about"), _scenes(prompts, task, lists))
            for task, file in (("decision", "scenes.csv"), ("chained", "chained.csv"), ("absolute", "absolute.csv"))
        },
    }


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
settings = { cluster = "test" }

[fits.chained_filled]
engine = "logistic"
view = "decision_trials"
formula = "coded_decision ~ d_filled"
by = ["model"]
settings = { cluster = "test" }
""",
}


def _lists(folder: Path, prompts: Iterable[Mapping[str, str]]) -> dict[str, Lists]:
    """By test and list. The list "" is that of the first variation; another has only what differs. The list "chained"
    is what a chained prompt pairs: the words of the association test or, in tests of jobs, the full names and the jobs
    that stand behind the synonyms; some of their published answers are of the list "association" all the same."""
    plain, full = read_words(folder / "iat_stimuli.csv", "C"), read_words(folder / "iat_stimuli_synonym.csv", "D")
    low = read_words(folder / "iat_stimuli_synonym.csv", "C")
    lists: dict[str, Lists] = {test: {} for test in plain}
    words_of_decisions = read_rows(folder / "decision_words.csv")
    first = words_of_decisions[0]["variation"]
    for row in words_of_decisions:
        test = TESTS.get(row["stereotype"], row["stereotype"])
        name = "" if row["variation"] == first else row["variation"]
        if test not in lists or row["side"] not in _SIDES:
            raise StudyError(
                f'decision_words.csv has a word of "{row["stereotype"]}", {row["side"]}, which are unknown.'
            )
        lists[test].setdefault(name, {}).setdefault(_SIDES[row["side"]], []).append(row["word"])
    named = {
        TESTS.get(row["stereotype"], row["stereotype"]): found.groups()
        for row in prompts
        if row["task"] == "decision" and (found := _NAMED.search(row["text"]))
    }
    for test, of_test in lists.items():
        if len(of_test.get("", ())) < len(_SIDES):
            raise StudyError(f'decision_words.csv lacks words of "{test}" in the variation {first}.')
        half = len(plain[test]["shown"]) // 2
        plain_groups = groups = {"group_a": plain[test]["A"], "group_b": plain[test]["B"]}
        plain_words = words = {"attribute_a": plain[test]["shown"][:half], "attribute_b": plain[test]["shown"][half:]}
        if test in named:
            jobs = known_test(full, test, "a text that names its groups")["shown"][2 * half :]
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


def _stimuli(lists: Mapping[str, Lists], kinds: Iterable[str]) -> Iterator[tuple[str, str, str, str, str]]:
    for test in kinds:
        for name, by_side in lists[test].items():
            for side, words in by_side.items():
                for word in dict.fromkeys(words):
                    yield test, side, _CATEGORIES[side], word, name


def _scenes(
    prompts: Iterable[Mapping[str, str]], task: str, lists: Mapping[str, Lists]
) -> Iterator[tuple[str, str, str, str, str, str, str]]:
    rows = [row for row in prompts if row["task"] == task]
    names = list(dict.fromkeys(row["variation"] for row in rows))
    for row in rows:
        test, kinds = TESTS.get(row["stereotype"], row["stereotype"]), _KINDS[task]
        parts = re.split(r"\n\n(?=Task [2-9]:)", row["text"])
        parts += [""] * (len(kinds) - len(parts))  # one text without headings asks for all
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
    """The sides of the group and the attribute that a question is about: "default_negative"."""
    parts = variation.split("_")
    if unknown := next((part for part in parts if part not in _ABOUT), None):
        raise UnknownNameError(f"side (of the variation {variation}) in prompts.csv", unknown, _ABOUT)
    return "".join(_ABOUT[part] for part in parts)
