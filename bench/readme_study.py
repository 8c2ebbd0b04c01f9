"""Simulate the README's first study, in which all are treated alike, by slant's own draws and functions, with nothing
collected: in how many data sets does any difference between levels have a corrected p below .05?"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from bench.measures import ROOT
from slant.analysis.calls.call import Call, answered
from slant.analysis.questions.power_of_levels import simulated_profiles
from slant.collector.studies.catalogue import Study, fits_of, load_study

REPETITIONS = 20
_AT_ONCE = 10
CLAIM = "any corrected p < .05 where all are treated alike"


def readme_study(n_data_sets: int) -> list[dict[str, Any]]:
    """Return rows of the claim, as bench/truth.R prints them: of all pairs of a question, and of either question."""
    rows = list(_found(n_data_sets))
    share = {test: sum(test in found for found in rows) / len(rows) for test in ("rating", "invite")}
    design = f"the README's first study, {REPETITIONS} repetitions"
    shares = {f"{design}: {test}": value for test, value in share.items()}
    shares |= {f"{design}: of either question": sum(map(bool, rows)) / len(rows)}
    return [
        {"claim": CLAIM, "design": name, "value": value, "n": len(rows), "least": 0, "most": 0.06}
        for name, value in shares.items()
    ]


def _found(n_data_sets: int) -> Iterator[set[str]]:
    """Yield for each data set the questions in which a corrected p is below .05; seeds are 1, 2, …"""
    with tempfile.TemporaryDirectory() as folder:
        study = _study(Path(folder))
        for first in range(1, n_data_sets + 1, _AT_ONCE):
            seeded = replace(study, seed=first)
            n = min(_AT_ONCE, n_data_sets + 1 - first)
            rows = simulated_profiles(seeded, study.models[0].model, {}, n, REPETITIONS)
            contrasts = _contrasts(study, rows)
            for number in range(n):
                small = contrasts.filter((pl.col("data_set") == number) & (pl.col("p_adjusted") < 0.05))
                yield set(small["test"])


def _study(folder: Path) -> Study:
    text = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    if block is None:
        raise SystemExit("The README has no study.")
    (folder / "callers.toml").write_text(block.group(1), encoding="utf-8")
    return load_study(folder / "callers.toml")


def _contrasts(study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    fit = fits_of(study)["mean_contrasts"]
    arguments = {
        "outcome": "measured",
        "attributes": fit.settings["attributes"],
        "cluster": fit.settings["cluster"],
        "declared": fit.settings["declared"],
        "levels": {name: list(levels) for name, levels in fit.levels.items()},
        "by": ["test", "data_set"],
    }
    made = answered(Call("run_fit", rows, {"engine": "mean_contrasts", "arguments": arguments}))
    contrasts: pl.DataFrame = made["tables"]["contrasts"]
    return contrasts
