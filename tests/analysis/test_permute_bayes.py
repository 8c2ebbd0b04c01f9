"""Permutations refitted by Stan: the same numbers in both languages and by any workers; short chains against long."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.rows.views import open_trials
from tests.support import ROOT
from tests.support.plain_r import rscript

BRIEF: dict[str, Any] = {"chains": 1, "iterations": 200, "warmup": 100}
KINDS = ("delta_p", "delta_p_items", "s")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("R"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler here"),
]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("permuted") / "a.duckdb"
    words = ["--study", "interference", "--simulated", "--db", str(path)]
    subprocess.run([sys.executable, "-m", "slant.collector", *words], check=True, capture_output=True, cwd=ROOT)
    return path


def by_r_alone(db: Path, engine: str, permutations: int, chains: Sequence[int] = ()) -> list[float]:
    file = db.with_name("rows.csv")
    columns = ["is_consistent", "block", "model", "domain", "item"]
    open_trials(db, view="forced_choice_trials").select(pl.col(columns[0]).cast(pl.Int64), *columns[1:]).write_csv(file)
    words = (file, r_folder(), engine, permutations, *chains)
    return [float.fromhex(line) for line in rscript("permute_from_csv.R", *words)]


def in_one_column(found: analysis.PermutationResult) -> list[float]:
    return [value for kind in KINDS for value in found.values[kind]]


def test_glmer_permutes_alike_in_both_languages(db: Path) -> None:
    ours = in_one_column(analysis.permute(db, engine="lme4", permutations=4))
    theirs = by_r_alone(db, "lme4", 4)
    assert len(ours) == 5 * 6 * 3
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9)


def test_stan_permutes_alike_in_both_languages_and_by_any_number_of_workers(db: Path, tmp_path: Path) -> None:
    copies = [shutil.copy(db, tmp_path / f"{workers}.duckdb") for workers in (1, 2)]
    one, two = (
        analysis.permute(copy, permutations=2, workers=workers, settings=BRIEF)
        for workers, copy in enumerate(copies, start=1)
    )
    assert one.values.equals(two.values)
    assert in_one_column(one) == by_r_alone(db, "brms", 2, list(BRIEF.values()))


def test_short_chains_give_what_long_ones_do_within_monte_carlo_error(db: Path) -> None:
    short = analysis.permute(db, permutations=2)
    long = analysis.permute(db, permutations=2, settings={"chains": 4, "iterations": 1500, "warmup": 500})
    by = ["number", "model", "test"]
    both = short.values.select(*by, "delta_p", "delta_p_mcse").join(long.values, on=by)
    error = (pl.col("delta_p_mcse") ** 2 + pl.col("delta_p_mcse_right") ** 2).sqrt()
    distances = both.select(((pl.col("delta_p") - pl.col("delta_p_right")) / error).alias("z"))["z"]
    assert distances.len() == 18
    assert distances.abs().max() < 4.5
    assert (distances**2).mean() ** 0.5 < 1.8
