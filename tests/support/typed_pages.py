"""A page whose blocks are typed: its files written, its commands run in an empty folder, as a reader would."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from slant.collector.studies import catalogue
from slant.collector.study.toml_table import Table
from tests.support import ROOT

PROGRAMS = {"collect": "slant.collector", "analyze": "slant.analysis"}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(page) if name == language]


def same(shown: str, printed: str) -> bool:
    """The same words and numbers; another processor may give other last digits."""
    there, here = NUMBER.findall(shown), NUMBER.findall(printed)
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed) or len(there) != len(here):
        return False
    return all(math.isclose(float(a), float(b), rel_tol=1e-4) for a, b in zip(there, here, strict=True))


def has_cells(shown: str, printed: str) -> bool:
    """A row of a table as a narrow terminal shows it: its cells, in their order, are among those of a printed one."""
    cells = iter(re.split(r"\s{2,}", printed.strip()))
    return shown.startswith(" ") and all(cell in cells for cell in re.split(r"\s{2,}", shown.strip()))


def typed(command: str, folder: Path, *paths: Path) -> str:
    """What a command prints to both streams; it must end well. The two programs are those of this checkout; `paths` are
    further folders with packages of Python."""
    keyless = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    ours = "".join(f'{name}() {{ "$PYTHON" -m {package} "$@"; }}\n' for name, package in PROGRAMS.items())
    root = ROOT
    own = {
        "PYTHON": sys.executable,
        "SLANT_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(map(str, [root / "python", *paths])),
    }
    done = subprocess.run(
        ["bash", "-e", "-c", ours + command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**keyless, **own},
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout + done.stderr


def typed_in_r(script: str, folder: Path) -> str:
    """What an R session prints in which this checkout stands for the package."""
    root = ROOT
    sources = f'for (file in list.files("{root / "R"}", full.names = TRUE)) source(file)\n'
    (folder / "own.R").write_text(sources + script.replace("library(slant)\n", ""), "utf-8")
    return typed("Rscript own.R", folder)


def typed_in_python(script: str, folder: Path) -> str:
    (folder / "own.py").write_text(script, "utf-8")
    return typed('"$PYTHON" own.py', folder)


def keys_read(monkeypatch: pytest.MonkeyPatch, names_of_its_own: re.Pattern[str]) -> set[str]:
    """A set that is filled with each key that a study file is read for, but in tables whose keys are names."""
    read: set[str] = set()
    plain = Table.optional

    def noted(table: Table, key: str, kind: type | tuple[type, ...], described: str) -> object:
        read.update([] if names_of_its_own.search(table.where) else [key])
        return plain(table, key, kind, described)

    monkeypatch.setattr(Table, "optional", noted)
    catalogue._unchanging_variants.cache_clear()  # what was read before is read again
    return read


def words_of(page: str) -> set[str]:
    """The names that a page has in code."""
    return set(re.findall(r"(?<=[`.])(\w+)(?=[`., ])", page)) | set(re.findall(r"\[(\w+)", page))
