"""The engines beside lme4 and effect sizes: the same bits from both languages, and what they say of a study's rows."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import polars as pl
import pytest

import analysis
from analysis.cells import read_cells
from analysis.r import r_folder
from analysis.r_home import r_installation
from collector.study import load_study
from tests.fitted import RUN, trials
from tests.given import database

NUMBERS = ["estimate", "std_error", "df", "statistic", "p_value", "conf_low", "conf_high"]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts in steps of 64, as o3-mini's; DeepSeek-R1's are exact."""
    rows = [
        {**row, "tokens": 64 * (row["tokens"] // 64) if row["model"] == "o3-mini" else row["tokens"]}
        for row in trials()
    ]
    return database(tmp_path_factory.mktemp("engines") / "a.duckdb", rows, [RUN])


@pytest.mark.parametrize(("fit", "engine"), [("refusal_length", "welch"), ("step_sensitivity", "step_sensitivity")])
def test_python_and_rscript_give_the_same_bits(fit: str, engine: str, db: Path, tmp_path: Path) -> None:
    definition = load_study("rmiat").fits[fit]
    cell = read_cells(db, "rmiat", definition, source=None, measure=None, refusals_removed=True)[0]
    cell.rows.write_csv(tmp_path / "rows.csv")
    installed = r_installation()
    assert installed is not None
    script = Path(__file__).with_name("engine_from_csv.R")
    command = [str(installed.rscript), "--vanilla", str(script), str(tmp_path / "rows.csv"), str(r_folder()), engine]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    table = analysis.fit(fit, db).table.filter(pl.col("model") == cell.key["model"])
    found = [math.nan if value is None else value for name in NUMBERS for value in table[name].to_list()]
    there = [math.nan if line == "NA" else float.fromhex(line) for line in answer.stdout.split()]
    assert [value.hex() for value in found] == [value.hex() for value in there]


def test_refusal_length_is_of_all_tests_of_a_model_together(db: Path) -> None:
    found = analysis.fit("refusal_length", db)
    assert found.table.select("model", "test", "term").rows() == [
        ("o3-mini", None, "mean_difference"), ("deepseek-r1", None, "mean_difference"),
    ]  # fmt: skip
    assert found.diagnostics["n"].to_list() == [80, 80]
    assert found.variances.select("group", "n_groups").rows()[:2] == [("FALSE", 76), ("TRUE", 4)]


def test_steps_are_drawn_where_counts_have_them(db: Path) -> None:
    found = analysis.fit("step_sensitivity", db)
    said = dict(found.diagnostics.select("model", "optimiser").iter_rows())
    assert said["o3-mini"] == "1000 draws, step 64, seed 20250930"
    assert (found.diagnostics["status"] == "ok").all()
    spreads = found.table.filter(pl.col("term") == "cohens_d").select("model", "std_error").rows()
    assert [(model, spread > 0) for model, spread in spreads] == [("o3-mini", True), ("deepseek-r1", False)]


def test_another_seed_is_another_fit_and_leaves_the_first_one_kept(db: Path) -> None:
    first = analysis.fit("step_sensitivity", db).table["estimate"].to_list()
    other = analysis.fit("step_sensitivity", db, settings={"seed": 1}).table["estimate"].to_list()
    assert other[:2] != first[:2]
    assert analysis.fit("step_sensitivity", db).table["estimate"].to_list() == first


def test_the_pilot_of_a_model_is_asked_only_by_name() -> None:
    from collector.offer import _choose

    study = load_study("rmiat")
    assert "deepseek-r1-pilot" not in [model.model for model in _choose(study, None, True, None, False)[0]]
    (pilot,) = _choose(study, ["simulated/deepseek-r1-pilot"], False, None, False)[0]
    assert pilot.model == "deepseek-r1-pilot"
