"""The page about Python: it has every public name once, and its code runs."""

from __future__ import annotations

import contextlib
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
    return (root / "vignettes" / "python.Rmd").read_text("utf-8")


def test_the_page_has_every_public_name_once(page: str) -> None:
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)) == slant.__all__


def test_slant_exports_what_its_halves_export_and_each_name_has_a_docstring() -> None:
    assert slant.__all__ == sorted([*collector.__all__, *analysis.__all__])
    assert [name for name in slant.__all__ if not getattr(slant, name).__doc__] == []


def test_the_code_of_the_page_runs(page: str, tmp_path: Path) -> None:
    level = logging.getLogger("slant").level
    names: dict[str, Any] = {}
    with contextlib.chdir(tmp_path):
        for block in blocks(page, "python"):
            exec(block, names)
    logging.getLogger("slant").setLevel(level)
    assert (names["report"].is_complete, len(names["trials"])) == (True, 50)
