"""The engines besides lme4 and effect sizes: the same bits from both languages, and what they say of a study's rows."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.rows.cells import read_cells
from slant.collector.request.record import Request
from slant.collector.studies.catalogue import load_study
from tests.support.fitted import RUN, trials
from tests.support.given import database
from tests.support.plain_r import rscript
from tests.support.stored import rows_in

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
    table = analysis.fit(db, fit=fit).table.filter(pl.col("model") == cell.key["model"])
    assert as_hex(table) == from_rscript(engine, cell.rows, tmp_path)


def as_hex(table: pl.DataFrame) -> list[str]:
    found = [math.nan if value is None else value for name in NUMBERS for value in table[name].to_list()]
    return [value.hex() for value in found]


def from_rscript(engine: str, rows: pl.DataFrame, folder: Path) -> list[str]:
    """The estimates that R alone finds in these rows, bit by bit."""
    rows.write_csv(folder / "rows.csv")
    there = rscript("engine_from_csv.R", folder / "rows.csv", r_folder(), engine)
    return [(math.nan if line == "NA" else float.fromhex(line)).hex() for line in there]


def test_refusal_length_is_of_all_tests_of_a_model_together(db: Path) -> None:
    found = analysis.fit(db, fit="refusal_length")
    assert found.table.select("model", "test", "term").rows() == [
        ("o3-mini", None, "mean_difference"),
        ("deepseek-r1", None, "mean_difference"),
    ]
    assert found.diagnostics["n"].to_list() == [80, 80]
    assert found.variances.select("group", "n_groups").rows()[:2] == [("FALSE", 76), ("TRUE", 4)]


def test_steps_are_drawn_where_counts_have_them(db: Path) -> None:
    found = analysis.fit(db, fit="step_sensitivity")
    said = dict(found.diagnostics.select("model", "optimiser").iter_rows())
    assert said["o3-mini"] == "1000 draws, step 64, seed 20250930"
    assert (found.diagnostics["status"] == "ok").all()
    spreads = found.table.filter(pl.col("term") == "cohens_d").select("model", "std_error").rows()
    assert [(model, spread > 0) for model, spread in spreads] == [("o3-mini", True), ("deepseek-r1", False)]


def coarse_in_one_test(path: Path) -> Path:
    """In age_valence o3-mini has multiples of 128 only, and DeepSeek-R1 even counts only."""
    coarse = {"o3-mini": (64, 128), "deepseek-r1": (1, 2)}
    rows = []
    for row in trials(tests=("flowers_insects", "age_valence")):
        step = coarse[row["model"]][row["test"] == "age_valence"]
        rows.append({**row, "tokens": step * (row["tokens"] // step)})
    return database(path, rows, [RUN])


@pytest.mark.slow
def test_the_step_is_that_of_the_model_and_not_of_a_test(tmp_path: Path) -> None:
    db = coarse_in_one_test(tmp_path / "a.duckdb")
    found = analysis.fit(db, fit="step_sensitivity")
    said = found.diagnostics.select("model", "test", "optimiser").rows()
    assert len(said) == 4
    for model, _, optimiser in said:
        assert optimiser.startswith("1000 draws, step 64," if model == "o3-mini" else "0 draws, step 1,")
    steps = dict(rows_in(db, "SELECT model, step FROM token_sources"))
    assert steps == {"o3-mini": 64, "deepseek-r1": 1}


@pytest.mark.slow
def test_r_alone_finds_the_same_steps_in_the_rows_of_a_model(tmp_path: Path) -> None:
    db = coarse_in_one_test(tmp_path / "a.duckdb")
    cells = read_cells(
        db, "rmiat", load_study("rmiat").fits["step_sensitivity"], source=None, measure=None, refusals_removed=True
    )
    keys = [{name: pl.lit(cell.key[name]) for name in ("model", "test")} for cell in cells]
    rows = pl.concat([one.rows.drop("token_step").with_columns(**key) for one, key in zip(cells, keys, strict=True)])
    assert as_hex(analysis.fit(db, fit="step_sensitivity").table) == from_rscript("step_sensitivity", rows, tmp_path)


@pytest.mark.slow
def test_another_seed_is_another_fit_and_leaves_the_first_one_kept(db: Path) -> None:
    first = analysis.fit(db, fit="step_sensitivity").table["estimate"].to_list()
    other = analysis.fit(db, fit="step_sensitivity", settings={"seed": 1}).table["estimate"].to_list()
    assert other[:2] != first[:2]
    assert analysis.fit(db, fit="step_sensitivity").table["estimate"].to_list() == first


def test_the_pilot_of_a_model_is_asked_only_by_name() -> None:
    from slant.collector.plan.run_plan import _choose

    study = load_study("rmiat")
    request = Request("none.duckdb", "rmiat", simulated=True)
    assert "deepseek-r1-pilot" not in [model.model for model in _choose(study, request)[0]]
    (pilot,) = _choose(study, Request("none.duckdb", "rmiat", ["simulated/deepseek-r1-pilot"]))[0]
    assert pilot.model == "deepseek-r1-pilot"
