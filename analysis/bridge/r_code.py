"""Hash the R code that decides numbers: a result of different code is a different result."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from slant.collector.stable_ids import stable_id

# not resolved: in a checkout the package is a link, and its neighbours are links, too
_PACKAGE = Path(__file__).parent.parent


def r_folder() -> Path:
    """Return the folder with our R functions."""
    return (_PACKAGE.parent / "R").resolve()


def inst_folder() -> Path:
    """Return the folder with what R/ also reads: the table of engines, and what it compiles at first use."""
    return (_PACKAGE.parent / "inst").resolve()


@cache
def r_code_hash() -> str:
    """Hash all code that a call may run except what draws: a different drawing leaves every result unchanged."""
    code = [file for file in r_folder().glob("*.R") if not file.name.startswith(("plot_", "figure_"))]
    files = [*sorted(code), inst_folder() / "engines.csv", *sorted((inst_folder() / "native").iterdir())]
    return stable_id([file.read_text("utf-8") for file in files])
