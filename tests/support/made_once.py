"""What takes seconds to make and is only read: made once for all processes that share the tests out among them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from slant import analysis
from tests.support.fitted import RUN, trials
from tests.support.given import database

EVIL = "</script><script>evil = 1</script><img src=x onerror='evil = 1'>"
LONG = "a_served_model_with_an_endless_name_" * 5


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """The folder `name` of this run of the tests, which all its processes see."""
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name


def made_once(folder: Path, make: Callable[[Path], object]) -> Path:
    """The folder, filled by `make`: the first process calls it, the others wait."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            make(folder)
            (folder / "done").touch()
    return folder


def hostile_report(factory: pytest.TempPathFactory) -> Path:
    """The report of two models of the RM-IAT, whose servers gave names that would break a page or run in it."""

    def make(folder: Path) -> None:
        rows = [{**row, "served_model": f"{EVIL if n % 2 else LONG}.gguf"} for n, row in enumerate(trials())]
        runs = [{**RUN, "command": f"collect --db {'x' * 300}"}]
        analysis.report(database(folder / "a.duckdb", rows, runs), out=folder / "r.html")

    return made_once(shared_folder(factory, "hostile_report"), make) / "r.html"
