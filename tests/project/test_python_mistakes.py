"""Every argument of every public Python function, given wrong: a SlantError with a sentence, and nothing written.

What a mistake is follows from the annotation, so that a new argument is walked over without a word here. The sentences
stand in python_mistakes.txt; `SLANT_NEW_MISTAKES=1 pytest tests/project/test_python_mistakes.py` writes it anew.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import slant
from slant.collector.errors import SlantError
from tests.support.fitted import small_database
from tests.support.sentences import by_sentence

SENTENCES = Path(__file__).with_name("python_mistakes.txt")
# What each function needs so that the mistake is the only one
NEEDED: dict[str, dict[str, Any]] = {
    "collect": {"db": "b.duckdb", "study": "rmiat", "simulated": True},
    "import_trials": {"db": "b.duckdb", "study": "rmiat", "paths": ["a.csv"]},
    "merge": {"db": "b.duckdb", "sources": ["a.duckdb"]},
    "load_study": {"name": "rmiat"},
    "preregister": {"study": "rmiat", "simulated": True},
    "read_registration": {},
    "write_registration": {},
    "table_text": {},
    "replay": {"archive": "none.zip"},
    "seal": {"db": "a.duckdb", "out": "a.zip"},
    "export_trials": {"db": "a.duckdb", "out": "trials.csv"},
    "export_lake": {"db": "a.duckdb", "folder": "lake"},
    "fit": {"db": "a.duckdb", "fit": "effect_size"},
    "game_indices": {"db": "a.duckdb", "study": "hiring"},
    "game_differences": {"db": "a.duckdb", "study": "hiring"},
    "plan_power": {"study": "rmiat", "variances": {"word": 250.0, "residual": 3200.0}},
    "permute": {"db": "a.duckdb", "study": "interference"},
}
WRONG: dict[str, tuple[Any, ...]] = {
    "db": (3.5, None, "a.csv", "no/folder/a.duckdb"),
    "study": (3.5, ["rmiat"]),
    "str": (3.5, "no such", b"bytes"),
    "int": ("ten", -1, 1.5, True, float("nan")),
    "float": ("much", float("inf")),
    "bool": ("yes", 2),
    "Sequence[str]": ("text", [3]),
}
WORDS = ("rule", "title", "subtitle", "stopping_rule")  # which are right in any words
NO_FUNCTIONS = ("showing", "mixed_versions")  # a context manager, and a wrapper of an executor


def mistakes() -> Iterator[tuple[str, dict[str, Any], str]]:
    for name in slant.__all__:
        function = getattr(slant, name)
        if inspect.isclass(function) or name in NO_FUNCTIONS:
            continue
        given = NEEDED.get(name, {"db": "a.duckdb"})
        yield name, {**given, "nonsense": 1}, "nonsense=1"
        for argument, parameter in inspect.signature(function).parameters.items():
            parts = [part.strip() for part in str(parameter.annotation).split("|")]
            kinds = [argument] if argument in WRONG else [part for part in parts if part in WRONG]
            for value in [value for kind in kinds for value in WRONG[kind]]:
                is_right = value == "no such" and ("Path" in parts or argument in WORDS)
                if not is_right:
                    yield name, {**given, argument: value}, f"{argument}={value!r}"


def said_to(name: str, given: dict[str, Any]) -> str:
    try:
        getattr(slant, name)(**given)
    except SlantError as error:
        return str(error).splitlines()[0]
    except Exception as error:
        return f"TRACEBACK {type(error).__name__}: {error}"
    return "NOTHING"


def test_a_snapshot_has_each_sentence_once_and_below_it_who_says_so_of_what() -> None:
    told = {f"{name}({argument}=1)": f"{name}(): {argument} must be a text." for name, argument in ("fx", "gy", "gz")}
    page = by_sentence({**told, "g(z=2)": "g(): no z is 2.", "collect --seed=x": "Not '--seed'.", "collect": "No."})
    assert page.splitlines() == [
        *("…(): … must be a text.", "    f: x=1", "    g: y=1; z=1", "…(): no z is 2.", "    g: z=2"),
        *("Not '…'.", "    collect: --seed=x", "No.", "    collect"),
    ]


@pytest.mark.slow
def test_every_wrong_argument_ends_in_a_sentence_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small_database(tmp_path / "a.duckdb")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    told = {f"{name}({typed})": said_to(name, given) for name, given, typed in mistakes()}
    page = by_sentence(told)
    if os.environ.get("SLANT_NEW_MISTAKES"):
        SENTENCES.write_text(page, "utf-8")
    assert {call: said for call, said in told.items() if said.startswith(("TRACEBACK", "NOTHING"))} == {}
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert len(told) > 150
    assert page == SENTENCES.read_text("utf-8")
