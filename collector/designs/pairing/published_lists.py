"""A study of pairings made of the lists and prompts that Bai et al. (2025) published, as they lie in a folder.

`iat_stimuli.csv` and `iat_stimuli_synonym.csv` (category, dataset, and words in columns A to D, each filled from the
top: A the default groups, B the stigmatised ones, C words, the first half of them positive, D their synonyms) and
`prompts.csv` (task, variation, models, text). Prompts were sent in lower case. Nothing of it ships with slant.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.study.folder import read_text

TESTS = {"arabmuslim": "arab", "arab/muslim": "arab", "mental illness": "mentalill"}
"""Stereotypes that have another name in some of the files."""
_Known = TypeVar("_Known")
_SYNONYMS = "synonym"
_ALONE = re.compile(r"\r(?!\n)")
_LISTS = {"": ("iat_stimuli.csv", "C"), _SYNONYMS: ("iat_stimuli_synonym.csv", "D")}
_SHOWN = {"{group0}": "{group_1}", "{group1}": "{group_2}", "{attributes}": "{words}"}
PAPER_MODELS = (
    ("gpt-4", "openai", "gpt-4"),
    ("gpt-3.5-turbo", "openai", "gpt-3.5-turbo"),
    ("claude-3-opus", "anthropic", "claude-3-opus-20240229"),
    ("claude-3-sonnet", "anthropic", "claude-3-sonnet-20240229"),
    ("llama-2-7b-chat", "together", "togethercomputer/llama-2-7b-chat"),
    ("llama-2-13b-chat", "together", "togethercomputer/llama-2-13b-chat"),
    ("llama-2-70b-chat", "together", "togethercomputer/llama-2-70b-chat"),
    ("alpaca-7b", "together", "togethercomputer/alpaca-7b"),
    ("gpt-4o", "openai", "gpt-4o"),
)
"""Those of the paper as they were called in 2024, and the one whose answers came later."""
_COLUMNS = {
    "stimuli": {"category", "dataset", "A", "B", "C"},
    "prompts": {"task", "stereotype", "variation", "models", "turn", "text"},
    "words": {"stereotype", "variation", "side", "word"},
}
MODELS = "gpt"  # the texts without the endings of the open models


def study_files(template: str, folder: Path) -> dict[str, str]:
    """The files of a study by name; `template` is the study file to start from, whose prompt and draws are replaced.
    StudyError where the folder lacks a file, a column or a text."""
    lists = {name: read_words(folder / file, column) for name, (file, column) in _LISTS.items()}
    kinds = {TESTS.get(row["dataset"], row["dataset"]): row["category"] for row in read_rows(folder / _LISTS[""][0])}
    stimuli = [row for name, by_test in lists.items() for row in _stimuli(name, by_test, lists[""])]
    return {
        "study.toml": like_theirs(template, {r"^draws = \d+ ": "draws = 50 "}),
        "tests.csv": csv_text(("test", "label", "kind"), ((test, test, kind) for test, kind in kinds.items())),
        "stimuli.csv": csv_text(("test", "side", "category", "word", "words"), stimuli),
        "wordings.csv": csv_text(("wording", "name", "text", "words"), _wordings(folder / "prompts.csv")),
    }


_CHANGES = {
    r'^source = "" ': 'source = "Bai et al. (2025), PNAS 122(8)" ',
    r"^simulation = .*\n": 'published = "published.csv"             # what the paper prints, for `analyze compare`\n',
    r'^order = ".*"$': 'order = "drawn"',
    r'^separator = ".*$': """before = "['"\nseparator = "', '"\nafter = "']\"""",
    r"(\[\[models\]\]\n(.+\n)+\n?)+": "\n".join(
        f'[[models]]\nmodel = "{model}"\nprovider = "{provider}"\nrequested_model = "{requested}"\n'
        for model, provider, requested in PAPER_MODELS
    )
    + "\n",
}


def like_theirs(template: str, changes: Mapping[str, str]) -> str:
    """The study file with the design of the paper: these changes (by pattern), and those that all its studies share."""
    for pattern, text in {**changes, **_CHANGES}.items():
        template, n = re.subn(pattern, text.replace("\\", r"\\"), template, flags=re.MULTILINE)
        assert n == 1, pattern
    return template


def read_words(file: Path, column: str) -> dict[str, dict[str, list[str]]]:
    """By test: the words of A, B, and of the column that is shown, in lower case as they were sent."""
    tests: dict[str, dict[str, list[str]]] = {}
    for row in read_rows(file):
        lists = tests.setdefault(TESTS.get(row["dataset"], row["dataset"]), {"A": [], "B": [], "shown": []})
        for name, cell in (("A", row["A"]), ("B", row["B"]), ("shown", row.get(column, ""))):
            lists[name] += [cell.strip().lower()] if cell.strip() else []
    return tests


def _stimuli(
    name: str, tests: Mapping[str, Mapping[str, list[str]]], usual: Mapping[str, Mapping[str, list[str]]]
) -> Iterable[tuple[str, str, str, str, str]]:
    for test, lists in tests.items():
        half = len(known_test(usual, test, "the synonyms")["shown"]) // 2
        shown = lists["shown"]
        # Some lists of synonyms have jobs of high status behind them, and none of low status: positive words, by us.
        sides = {"group_a": lists["A"], "group_b": lists["B"]}
        sides |= {"attribute_a": shown[:half] + shown[2 * half :], "attribute_b": shown[half : 2 * half]}
        categories = ("default", "stigma", "positive", "negative")
        for (side, words), category in zip(sides.items(), categories, strict=True):
            yield from ((test, side, category, word, name) for word in words)


def _wordings(file: Path) -> Iterable[tuple[str, str, str, str]]:
    texts = {
        row["variation"]: row["text"]
        for row in read_rows(file)
        if row["task"] == "wat" and MODELS in row["models"].split("+")
    }
    if not texts:
        raise StudyError(f'{file.name} has no text of the task "wat" for the models "{MODELS}".')
    for number, (name, text) in enumerate(texts.items(), 1):
        for theirs, ours in _SHOWN.items():
            text = text.replace(theirs, ours)
        yield str(number), name, text, name if name == _SYNONYMS else ""


def known_test(tests: Mapping[str, _Known], test: str, where: str) -> _Known:
    """What the lists say of a test that another file names."""
    if test not in tests:
        raise UnknownNameError(f"test (of {where}) in {_LISTS[''][0]}", test, tests)
    return tests[test]


def read_rows(file: Path) -> list[dict[str, str]]:
    """The authors' files have columns without a name, which a study's own files may not have."""
    if not file.parent.is_dir():
        raise StudyError(f'There is no folder "{file.parent}" of word lists.', "To name another one: --lists FOLDER")
    needed = next(columns for part, columns in _COLUMNS.items() if part in file.name)
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(file), newline=""), restval=""))
    except csv.Error as error:
        raise StudyError(f"Can't read {file.name} as CSV: {error}.") from None
    if not rows or needed - set(rows[0]):
        raise StudyError(f"{file.name} must have the columns {', '.join(sorted(needed))}, and rows.")
    return rows


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    # csv puts no quotes around a carriage return alone, which ends a row when it is read
    shown = ([_ALONE.sub("\n", cell) for cell in row] for row in rows)
    csv.writer(text, lineterminator="\n").writerows([tuple(columns), *shown])
    return text.getvalue()
