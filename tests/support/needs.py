"""What some machines lack: a test that needs it is marked `@pytest.mark.needs("stm")` and skips with that reason."""

from __future__ import annotations

import csv
import functools
from importlib.util import find_spec

import pytest

from slant.analysis.bridge.r_home import r_installation
from tests.support import ROOT
from tests.support.chromium import chromium


@functools.cache
def r_packages() -> set[str]:
    """The packages of analysis/r_packages.csv that are here and new enough, by one call of Rscript; none without R."""
    from slant.analysis.doctor import checks

    rows = [check for check in checks() if check.name.startswith("R package ")]
    return {check.name.removeprefix("R package ") for check in rows if check.status == "ok"}


def lack(name: str) -> str | None:
    """Why a test that needs `name` can't run here; None where it can. `name`: R, chromium, dask, or an R package."""
    if name == "chromium":
        return None if chromium() else "Chromium is not here"
    if name == "dask":
        return None if find_spec("distributed") else "Dask is not here (pip install 'slant[dask]')"
    if r_installation() is None:
        return "R is not here"
    if name == "R" or name in r_packages():
        return None
    assert name in names_of_r_packages(), f"{name} is not in analysis/r_packages.csv"
    return f"R package {name} is not here"


@functools.cache
def names_of_r_packages() -> set[str]:
    with (ROOT / "analysis" / "r_packages.csv").open(encoding="utf-8", newline="") as file:
        return {row["package"] for row in csv.DictReader(file)}


def skip_what_is_lacking(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            if reason := lack(name):
                pytest.skip(reason)
