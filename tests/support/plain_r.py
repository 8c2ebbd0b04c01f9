"""What plain R makes of the same database: Rscript runs our functions without Python, and hands back every digit."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant.analysis.bridge.r_home import r_installation
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.bridge.worker_start import ENVIRONMENT
from slant.analysis.calls.call import Call
from slant.analysis.fitting.fit_plan import PlannedFit
from slant.analysis.rows.cells import ORDER

Texts = Mapping[str, list[str | None]]


def plain_r(folder: Path, **asked: Any) -> dict[str, Any]:
    """The results of tests/support/both_languages.R, with the environment that our workers have."""
    installed = r_installation()
    if installed is None:
        pytest.skip("R is not here")
    (folder / "asked.json").write_text(json.dumps(asked), "utf-8")
    script = [str(installed.rscript), "--vanilla", str(Path(__file__).with_name("both_languages.R"))]
    done = subprocess.run(
        [*script, str(r_folder()), str(folder / "asked.json")], env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def rscript(script: str, *words: object, **environment: str) -> list[str]:
    """The words that a script of tests/support prints where R alone runs it."""
    installed = r_installation()
    if installed is None:
        pytest.skip("R is not here")
    command = [installed.rscript, "--vanilla", Path(__file__).with_name(script), *words]
    answer = subprocess.run(
        list(map(str, command)), env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return answer.stdout.split()


def environment() -> dict[str, str]:
    return {**os.environ, **{name: value for name, value in ENVIRONMENT.items() if name != "R_DEFAULT_PACKAGES"}}


NOT_SORTED_BY = {"forced_choice_trials": ("test_no", "test", "condition_no", "condition")}
"""By view: its items name their test, and it is sorted by them (`_order_of_rows` in analysis/rows/cells.py)."""


def as_job(work: PlannedFit) -> dict[str, Any]:
    """One fit as plain R is asked for it; where the model would be kept is nobody's number."""
    fit = work.definition
    return {
        "engine": fit.engine,
        "view": fit.view,
        "key": {"study": work.study, **work.cell.key},
        "columns": work.cell.rows.columns,
        "drop_flags": list(fit.drop_flags),
        "drop_outcomes": [name for name in fit.drop_outcomes if work.cell.n_dropped.get(name)],
        "where": {column: list(values) for column, values in fit.where.items()},
        "order": [name for name in ORDER if name not in NOT_SORTED_BY.get(fit.view, ())],
        "arguments": work.arguments,
    }


def as_check(call: Call, folder: Path, number: int) -> dict[str, Any]:
    def written(name: str, frame: pl.DataFrame) -> str:
        frame.write_parquet(path := folder / f"{number}_{name}.parquet", compression="snappy")
        return str(path)

    arguments = {
        name: {"parquet": written(name, value)} if isinstance(value, pl.DataFrame) else value
        for name, value in call.arguments.items()
    }
    return {"check": call.function, "rows": written("rows", call.rows), "arguments": arguments}


def differences(here: pl.DataFrame, there: Texts, rel_tol: float = 0) -> list[str]:
    """Where a frame of Python's and a table of R's differ, in any bit; R's own columns may be more."""
    found = []
    for name in here.columns:
        values, texts = here[name].to_list(), there.get(name, [])
        if len(values) != len(texts):
            found.append(f"{name}: {len(values)} values here, {len(texts)} there")
        unlike = [(a, b) for a, b in zip(values, texts, strict=False) if not is_same(a, b, rel_tol)]
        found += [f"{name}: {a!r} here, {b!r} there" for a, b in unlike[:3]]
    return found


def is_same(value: Any, text: str | None, rel_tol: float = 0) -> bool:
    if value is None or text is None:
        return value is None and text is None
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, datetime):
        value = round((value - datetime(1970, 1, 1)).total_seconds() * 1e6)
    if isinstance(value, (int, float)):
        try:
            number = float.fromhex(text)
        except ValueError:  # a column of texts there
            return False
        # p values of 1e-26 follow the last digits of df
        is_close = math.isclose(number, value, rel_tol=rel_tol, abs_tol=1e-9 if rel_tol else 0)
        return is_close or (math.isnan(number) and math.isnan(value))
    return text == str(value)
