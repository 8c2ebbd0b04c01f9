"""Read prompts, and words of decisions, from the scripts in a clone of Bai et al.'s repository.

Each script below `prompt/` asks one model about one stereotype in one variation. Its text is parsed, and never run:
it takes f-strings called `prompt`, the lists `positive` and `negative`, and the names in its `assign(…)`.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from slant.collector.errors import StudyError
from slant.collector.study.folder import read_text

MODEL = "gpt4"  # the texts without the endings of the open models
_TASKS = {"implicit": "wat", "decision": "decision", "chained": "chained", "absolute": "absolute"}
_ABOUT = ("default_positive", "default_negative", "stigma_positive", "stigma_negative")
"""List the versions of an absolute question in the order in which a script lists them."""
_FIRST = ("replication", "synonym")
_SHOWN = {"pair_group": "group", "pair_attribute": "attribute"}
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


def read_scripts(folder: Path) -> list[Script]:
    """Return what the scripts below a folder ask `MODEL`, by task and stereotype, the paper's first variation first.
    Raise StudyError if a script of that model can't be understood.
    """
    found = (script for path in islice(_paths(folder), _MAX_SCRIPTS) if (script := _script(path)))
    return sorted(found, key=lambda each: (each.task, each.stereotype, _place(each.variation), each.variation))


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
    """Return what a script writes into each row of its results: llm, category (the stereotype), variation, bias (the
    task).
    """
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
        return f"{{{_SHOWN[inner.value.id]}{_text(inner.slice)}}}"
    raise ValueError("a placeholder that no script of theirs has")


def _words(value: ast.expr) -> list[str]:
    return [_text(word) for word in value.elts] if isinstance(value, ast.List) else []
