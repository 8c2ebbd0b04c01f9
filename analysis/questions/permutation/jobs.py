"""What worker processes do for a permutation test: picklable jobs, and the functions that take them.

A job needs nothing but this package and R on the machine that it reaches: any `concurrent.futures.Executor` can run it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

PACKAGES = {"brms": ("brms", "rstan", "posterior"), "lme4": ("lme4",)}
"""The R packages that each engine refits with."""

Refit = dict[str, Any]
"""One refit as JSON can hold it: number, seconds, messages (texts), `refit` (a row), `cells` (rows)."""


@dataclass(frozen=True)
class RefitJob:
    """One permutation: rows (only the needed columns), R's arguments of refit_permutation(), and its number."""

    rows: pl.DataFrame
    arguments: Mapping[str, Any]
    number: int
    packages: tuple[str, ...]


@dataclass(frozen=True)
class CompileJob:
    """The Stan model of these rows: compiled, where no process has done it on this machine yet."""

    rows: pl.DataFrame
    arguments: Mapping[str, Any]
    say: str
    packages: tuple[str, ...]


@dataclass(frozen=True)
class SummaryJob:
    """Refits, number 0 among them, to sum up."""

    cells: pl.DataFrame
    refits: pl.DataFrame
    within: tuple[str, ...]


def refit_job(job: RefitJob) -> Refit:
    """Runs in a worker: R's refit_permutation(). RError where the data can't be refitted at all."""
    from slant.analysis.bridge import r

    r.start()
    begun = time.monotonic()
    arguments = {**job.arguments, "number": job.number}
    value, _ = r.call("refit_permutation_job", job.rows, arguments, packages=job.packages)
    return {
        "number": job.number,
        "seconds": round(time.monotonic() - begun, 3),
        "messages": [f"{kind}: {' '.join(text.split())}" for kind, text in value["messages"].iter_rows()],
        "refit": _plain(value["refit"])[0],
        "cells": _plain(value["cells"]),
    }


def compile_job(job: CompileJob) -> float:
    """Runs in a worker: R's compiled_model(). Returns the seconds that compiling took, 0 where the model was there."""
    from slant.analysis.bridge import r

    names = ("formula", "levels", "priors")
    arguments = {name: job.arguments[name] for name in names if job.arguments.get(name) is not None}
    value, _ = r.call("compile_permutation_job", job.rows, arguments, job.say, packages=job.packages)
    return float(value[0])


def summary_job(job: SummaryJob) -> pl.DataFrame:
    """Runs in a worker: R's summarise_permutations()."""
    from slant.analysis.bridge import r

    value, _ = r.call("summarise_permutations", job.cells, job.refits, list(job.within))
    found: pl.DataFrame = value
    return found


def _plain(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows without NaN, which JSON has no word for."""
    return [
        {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in frame.to_dicts()
    ]
