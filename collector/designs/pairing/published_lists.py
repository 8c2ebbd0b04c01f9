"""Make a study of pairings from the published lists and prompts of Bai et al. (2025) in a folder.

`iat_stimuli.csv` and `iat_stimuli_synonym.csv` (category, dataset, and words in columns A to D, each filled from the
top: A the default groups, B the stigmatised ones, C words, the first half of them positive, D their synonyms), which a
clone of their repository has in `stimuli/`. The prompts are in a table (`prompts.csv`: task, stereotype, variation,
models, turn, text), or in the scripts of a clone. Prompts were sent in lower case. None of it ships with slant.

Each script below `prompt/` asks one model about one stereotype in one variation. Its text is parsed, and never run:
it takes f-strings called `prompt`, the lists `positive` and `negative`, and the names in its `assign(…)`.
"""

from __future__ import annotations

import ast
import csv
import io
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

from slant.collector.errors import StudyError, check_known
from slant.collector.study.folder import read_text
from slant.collector.system.files import csv_text
from slant.collector.system.shipped_files import studies_dir

TESTS = {"arabmuslim": "arab", "arab/muslim": "arab", "mental illness": "mentalill"}
"""Rename stereotypes that have another name in some of the files."""
_Known = TypeVar("_Known")
_SYNONYMS, _PRINTED = "synonym", "replication"
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
"""List those of the paper as they were called in 2024, and the one whose answers came later."""
_COLUMNS = {
    "stimuli": {"category", "dataset", "A", "B", "C"},
    "prompts": {"task", "stereotype", "variation", "models", "turn", "text"},
    "words": {"stereotype", "variation", "side", "word"},
}
MODELS = "gpt"  # the texts without the endings of the open models


class PublishedFolder:
    """Read a folder with the authors' files, flat or as in a clone of their repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str) -> Path:
        """Return the file of this name, in the folder or in its `stimuli/`."""
        in_clone = self.folder / "stimuli" / name
        return in_clone if in_clone.is_file() and not (self.folder / name).exists() else self.folder / name

    def prompts(self, tasks: Collection[str]) -> list[dict[str, str]]:
        """Return the texts of these tasks for `MODELS`, as rows of prompts.csv; none if the folder has only
        lists.
        """
        rows = self._rows_of_scripts() if self._has_no_tables else read_rows(self.file("prompts.csv"))
        return [row for row in rows if row["task"] in tasks and MODELS in row["models"].split("+")]

    def words_of_decisions(self) -> list[dict[str, str]]:
        """Return the words of decisions as rows of decision_words.csv."""
        if not self._has_no_tables:
            return read_rows(self.file("decision_words.csv"))
        return [
            {"stereotype": script.stereotype, "variation": script.variation, "side": side, "word": word}
            for script in self._scripts
            if script.task == "decision"
            for side, words in (script.words or self._halves(script)).items()
            for word in words
        ]

    @property
    def has_lists_only(self) -> bool:
        return self._has_no_tables and not self._scripts

    @property
    def _has_no_tables(self) -> bool:
        """Return whether tables are to be made from a clone's scripts: prompts.csv and decision_words.csv."""
        in_clone = (self.folder / "stimuli").is_dir() or self.folder.name == "stimuli"
        return in_clone and not os.path.lexists(self.folder / "prompts.csv")

    @cached_property
    def _scripts(self) -> list[Script]:
        root = self.folder.parent if self.folder.name == "stimuli" else self.folder
        folder = root / "prompt"
        found = (script for path in islice(_paths(folder), _MAX_SCRIPTS) if (script := _script(path)))
        return sorted(found, key=lambda each: (each.task, each.stereotype, _place(each.variation), each.variation))

    def _rows_of_scripts(self) -> Iterable[dict[str, str]]:
        for script in self._scripts:
            for variation, text in script.texts.items():
                yield {
                    "task": script.task, "stereotype": script.stereotype, "variation": variation,
                    "models": MODELS, "turn": "1", "text": text,
                }  # fmt: skip

    def _halves(self, script: Script) -> dict[str, list[str]]:
        tests = read_words(self.file(script.file), script.column)
        words = known_test(tests, TESTS.get(script.stereotype, script.stereotype), "a script")["shown"]
        return {"positive": words[: len(words) // 2], "negative": words[len(words) // 2 :]}


def study_files(template: str, folder: Path) -> dict[str, str]:
    """Return the files of a study by name; `template` is the study file to start from, whose prompt and draws are
    replaced. Raise StudyError if the folder lacks a file, a column or a text.
    """
    published = PublishedFolder(folder)
    lists = {name: read_words(published.file(file), column) for name, (file, column) in _LISTS.items()}
    stimuli = [row for name, by_test in lists.items() for row in _stimuli(name, by_test, lists[""])]
    wordings, note = list(_wordings(published.prompts(("wat",)))), {}
    if not wordings:
        if not published.has_lists_only:
            raise StudyError(f'There is no text of the task "wat" for the models "{MODELS}" in {folder}.')
        wordings, note = list(_wordings(_printed_texts())), LISTS_ONLY
    return {
        "study.toml": like_theirs(template, {r"^draws = \d+ ": "draws = 50 ", **note}),
        "tests.csv": tests_text(published),
        "stimuli.csv": csv_text(("test", "side", "group", "word", "words"), stimuli),
        "wordings.csv": csv_text(("wording", "name", "text", "words"), wordings),
    }


_NOTE = "The lists are those of the authors. Their folder has no prompts: these are slant's."
LISTS_ONLY = {r'^design = "': f'note = "{_NOTE}"\ndesign = "'}
"""Note this in a study file whose folder of lists has neither prompts.csv nor scripts."""


def tests_text(published: PublishedFolder) -> str:
    """Return tests.csv: the stereotypes in the order of the lists, with their categories."""
    rows = read_rows(published.file(_LISTS[""][0]))
    kinds = {TESTS.get(row["dataset"], row["dataset"]): row["category"] for row in rows}
    return csv_text(("test", "label", "kind"), ((test, test, kind) for test, kind in kinds.items()))


def _printed_texts() -> list[dict[str, str]]:
    """Return the one text that the paper prints, which word_association asks, with both lists of words."""
    rows = csv.DictReader(io.StringIO((studies_dir() / "word_association" / "wordings.csv").read_text("utf-8")))
    [text] = [row["text"] for row in rows if row["name"] == _PRINTED]
    return [{"variation": name, "text": text} for name in (_PRINTED, _SYNONYMS)]


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
    """Return the study file with the paper's design: these changes (by pattern), and those that all its studies
    share.
    """
    for pattern, text in {**changes, **_CHANGES}.items():
        template, n = re.subn(pattern, text.replace("\\", r"\\"), template, flags=re.MULTILINE)
        assert n == 1, pattern
    return template


def read_words(file: Path, column: str) -> dict[str, dict[str, list[str]]]:
    """Return the words of A, B, and of the shown column by test, in lower case as they were sent."""
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
        names = ("default", "stigma", "positive", "negative")
        for (side, words), group in zip(sides.items(), names, strict=True):
            yield from ((test, side, group, word, name) for word in words)


def _wordings(prompts: Iterable[Mapping[str, str]]) -> Iterable[tuple[str, str, str, str]]:
    texts = {row["variation"]: row["text"] for row in prompts}
    for number, (name, text) in enumerate(texts.items(), 1):
        for theirs, ours in _SHOWN.items():
            text = text.replace(theirs, ours)
        yield str(number), name, text, name if name == _SYNONYMS else ""


def known_test(tests: Mapping[str, _Known], test: str, where: str) -> _Known:
    """Return the lists' entry for a test that another file names."""
    check_known(f"test (of {where}) in {_LISTS[''][0]}", test, tests)
    return tests[test]


def read_rows(file: Path) -> list[dict[str, str]]:
    """Read the authors' files, with their nameless columns; a study's own files may not."""
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


MODEL = "gpt4"  # the texts without the endings of the open models
_TASKS = {"implicit": "wat", "decision": "decision", "chained": "chained", "absolute": "absolute"}
_ABOUT = ("default_positive", "default_negative", "stigma_positive", "stigma_negative")
"""List the versions of an absolute question in the order in which a script lists them."""
_FIRST = ("replication", "synonym")
_IN_SCRIPTS = {"pair_group": "group", "pair_attribute": "attribute"}
_FILE = re.compile(r"iat_stimuli\w*\.csv\Z")
_MAX_SCRIPTS = 5_000
_MAX_BYTES = 50_000
"""Limit the number of scripts: theirs have about 3,000."""


@dataclass(frozen=True)
class Script:
    """Hold a script: `texts` by variation; `words` of a decision by side, empty if they are the halves of `column`."""

    task: str
    stereotype: str
    variation: str
    texts: dict[str, str]
    words: dict[str, list[str]]
    file: str
    column: str


def _paths(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        paths = (Path(place) / name for name in sorted(files) if name.endswith(".py"))
        yield from (path for path in paths if not path.is_symlink())


def _place(variation: str) -> int:
    return _FIRST.index(variation) if variation in _FIRST else len(_FIRST)


def _script(path: Path) -> Script | None:
    text = read_text(path, _MAX_BYTES)
    if f'"{MODEL}"' not in text.replace("'", '"'):
        return None
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise StudyError(f"Can't read {path.parent.name}/{path.name} as a script in Python.") from None
    names = _names_of_rows(nodes)
    if names.get("llm") != MODEL or names.get("bias") not in _TASKS:
        return None
    values = _assigned(nodes)
    try:
        task, variation = _TASKS[names["bias"]], names["variation"]
        file, column = _source(values)
        texts = _texts(values, variation, task)
        words = {side: _words(values[side]) for side in ("positive", "negative") if side in values}
        return Script(task, names["category"], variation, texts, {s: w for s, w in words.items() if w}, file, column)
    except (KeyError, TypeError, ValueError):
        raise StudyError(
            f"The script {path.parent.name}/{path.name} has no prompt in the form of the authors' others."
        ) from None


def _names_of_rows(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return the fields that a script writes into each row of its results: llm, category (the stereotype), variation,
    bias (the task)."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "assign":
            return {word.arg: _text(word.value) for word in node.keywords if word.arg}
    return {}


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Return the last value of each name, in the order of the script."""
    values: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
    return values


def _text(node: ast.AST) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _source(values: dict[str, ast.expr]) -> tuple[str, str]:
    """Return the file and the column of the words that a script shuffles; empty if it reads none."""
    files = [_text(node) for name in ("df",) if name in values for node in ast.walk(values[name])]
    columns = [_text(node) for name in ("attributes",) if name in values for node in ast.walk(values[name])]
    file = next((found.group() for text in files if (found := _FILE.search(text))), "")
    return file, next((text for text in columns if text in ("C", "D")), "")


def _texts(values: dict[str, ast.expr], variation: str, task: str) -> dict[str, str]:
    lists = (value.elts for value in values.values() if isinstance(value, ast.List))
    versions = next((parts for parts in lists if any(isinstance(part, ast.JoinedStr) for part in parts)), None)
    if task != "absolute" or versions is None:
        return {variation: _shown(values["prompt"])}
    begin = _shown(values["prompt"], "")
    return {about: begin + _shown(version) for about, version in zip(_ABOUT, versions, strict=True)}


def _shown(value: ast.expr, selected: str | None = None) -> str:
    """Return the text of an f-string with the placeholders of prompts.csv; `selected`: what a drawn version
    shows.
    """
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    return "".join(_part(part, selected) for part in parts)


def _part(part: ast.expr, selected: str | None) -> str:
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        return part.value
    inner = part.value if isinstance(part, ast.FormattedValue) else None
    if isinstance(inner, ast.Name) and inner.id == "attributes":
        return "{attributes}"
    if isinstance(inner, ast.Name) and selected is not None:
        return selected
    if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name) and _text(inner.slice) in ("0", "1"):
        return f"{{{_IN_SCRIPTS[inner.value.id]}{_text(inner.slice)}}}"
    raise ValueError("a placeholder that no script of theirs has")


def _words(value: ast.expr) -> list[str]:
    return [_text(word) for word in value.elts] if isinstance(value, ast.List) else []
