"""The page about Python: it has every public name once, and its code runs."""

from __future__ import annotations

import contextlib
import inspect
import logging
import re
from pathlib import Path
from typing import Any

import pytest

import slant
from slant import analysis, collector
from tests.support.typed_pages import blocks


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return _page(root, "python")


def _page(root: Path, name: str) -> str:
    return (root / "vignettes" / f"{name}.Rmd").read_text("utf-8")


def test_the_page_has_every_public_name_once(page: str) -> None:
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)) == slant.__all__


def test_slant_exports_what_its_halves_export_and_each_name_has_a_docstring() -> None:
    assert slant.__all__ == sorted([*collector.__all__, *analysis.__all__])
    assert [name for name in slant.__all__ if not getattr(slant, name).__doc__] == []


def test_whatever_asks_r_can_ask_it_by_any_executor(root: Path) -> None:
    arguments = {name: inspect.signature(getattr(slant, name)).parameters for name in slant.__all__}
    asking = {name for name, its in arguments.items() if "workers" in its}
    assert asking == {name for name, its in arguments.items() if "executor" in its} - {"mixed_versions"}
    (listed,) = re.findall(r"an argument of every function that asks R: (.*?)\.", _page(root, "cluster"), re.DOTALL)
    assert set(re.findall(r"`(\w+)`", listed)) == asking


@pytest.mark.slow
def test_the_code_of_the_page_runs(page: str, tmp_path: Path) -> None:
    level = logging.getLogger("slant").level
    names: dict[str, Any] = {}
    with contextlib.chdir(tmp_path):
        for block in blocks(page, "python"):
            exec(block, names)
    logging.getLogger("slant").setLevel(level)
    assert (names["report"].is_complete, len(names["trials"])) == (True, 50)
