"""Do several measures of the same models agree? From Python and from the shell; R has the numbers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.questions.meta import Validity, with_scores
from slant.collector import collect
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_analyze

pytestmark = pytest.mark.slow

MEASURES = ["drinks.d", "workshops.bias"]
TESTS = ("one", "two", "three", "four")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pairing and a decision study, each of four tests of the same names, asked of the same two models."""
    folder = tmp_path_factory.mktemp("measures")
    for name, design, only in (("drinks", "pairing", "drinks"), ("workshops", "decision", "workshops")):
        path = write_new_study(name, design, folder / name)[0]
        for file in ("tests.csv", "stimuli.csv", "simulation.csv"):
            place = 1 if file == "simulation.csv" else 0
            head, *lines = (folder / name / file).read_text("utf-8").splitlines()
            own = [cells for line in lines if (cells := line.split(","))[place] == only]
            more = [[*cells[:place], test, *cells[place + 1 :]] for test in TESTS for cells in own]
            (folder / name / file).write_text("\n".join([head, *map(",".join, more)]) + "\n", "utf-8")
        models = [f"simulated/{model.model}" for model in load_study(str(path)).models[:2]]
        collect(folder / "a.duckdb", str(path), models)
    return folder / "a.duckdb"


@pytest.fixture(scope="module")
def found(db: Path) -> Validity:
    return analysis.validity(db, MEASURES)


def test_a_unit_is_a_model_and_test_with_both_estimates_and_their_errors(found: Validity, db: Path) -> None:
    assert found.units.height == 8
    own = analysis.fit(db, "drinks", "t_test").table
    expected = {(row["model"], row["test"]): (row["estimate"], row["std_error"]) for row in own.to_dicts()}
    units = {(row["model"], row["test"]): (row["x"], row["x_error"]) for row in found.units.to_dicts()}
    assert units == expected
    assert any("only 8 units" in warning for warning in found.warnings)


def test_the_plain_correlation_is_that_of_the_units(found: Validity) -> None:
    row = found.table.filter(row="pearson").to_dicts()[0]
    assert row["estimate"] == pytest.approx(found.units.select(pl.corr("x", "y")).item())
    assert (row["n"], row["n_models"], row["n_tests"]) == (8, 2, 4)
    assert found.table["row"].to_list()[:3] == ["pearson", "spearman", "corrected"]


def test_the_shell_prints_what_python_has_and_draws_it(found: Validity, db: Path, tmp_path: Path) -> None:
    figure = tmp_path / "validity.svg"
    words = ["validity", "--measures", ",".join(MEASURES), "--db", str(db), "--format", "json", "--figure", str(figure)]
    result = run_analyze(*words)
    assert result.exit_code == 0, result.stderr
    assert [row["estimate"] for row in json.loads(result.stdout)] == pytest.approx(found.table["estimate"].to_list())
    assert "workshops.bias against drinks.d" in figure.read_text("utf-8")


def test_three_measures_are_three_pairs(db: Path) -> None:
    table = analysis.validity(db, [*MEASURES, "workshops.t_test"]).table
    pairs = table.select("measure_x", "measure_y").unique(maintain_order=True).rows()
    assert pairs == [
        ("drinks.d", "workshops.bias"), ("drinks.d", "workshops.t_test"), ("workshops.bias", "workshops.t_test"),
    ]  # fmt: skip


def test_what_is_no_measure_is_said(db: Path) -> None:
    with pytest.raises(UsageError, match="two measures"):
        analysis.validity(db, ["drinks.d", "drinks.d"])
    with pytest.raises(UsageError, match="is not a measure"):
        analysis.validity(db, ["drinks", "drinks.d"])
    with pytest.raises(UnknownNameError, match="fit of drinks"):
        analysis.validity(db, ["drinks.lm", "drinks.d"])
    with pytest.raises(UnknownNameError, match="variant"):
        analysis.validity(db, ["drinks@null.d", "drinks.d"])
    with pytest.raises(UsageError, match="doesn't cover each model and test"):
        analysis.validity(db, ["workshops.chained", "drinks.d"])
    with pytest.raises((DatabaseError, UnknownNameError)):
        analysis.validity(db, ["rmiat.d", "drinks.d"])


def test_a_benchmark_s_scores_are_set_beside_a_measure_of_any_study(db: Path, tmp_path: Path) -> None:
    measured = analysis.fit(db, "drinks", "t_test").table
    first, second = measured["model"].unique(maintain_order=True).to_list()
    file = tmp_path / "bench.csv"
    file.write_text(f"model,score,std_error\n{first},70,2\n{second},50,0\nanother,60,1\n", "utf-8")
    result = run_analyze("validity", "--measures", "drinks.d", "--with", file, "--db", db)
    assert "Can't correlate 2 units: at least four are needed." in result.output
    assert "bench.csv has models that drinks.d lacks: another." in result.output
    file.write_text("model,score,std_error\na,70,\n", "utf-8")
    with pytest.raises(UsageError, match="is no number"):
        analysis.validity(db, ["drinks.d"], scores=file)


def test_a_model_s_mean_over_tests_is_its_unit(tmp_path: Path) -> None:
    tests, rows = ("one", "two"), [(f"m{number}", number) for number in range(6)]
    values = pl.DataFrame(
        [("simulated", model, test, model, no, n + no, 0.4) for model, n in rows for no, test in enumerate(tests, 1)],
        schema=["source", "model", "test", "model_label", "test_no", "value", "error"],
        orient="row",
    )
    file = tmp_path / "bench.csv"
    file.write_text("model,score,std_error\n" + "".join(f"{model},{2 * n},1\n" for model, n in rows), "utf-8")
    units = with_scores("drinks.d", values, file, [])
    assert units.select("model", "x", "y", "x_error", "test").row(3) == ("m3", 6.0, 4.5, 1.0, "2 tests")
    assert units["y_error"].to_list() == pytest.approx([0.4 * 2**0.5 / 2] * 6)
