"""Simulation-based calibration: kept one data set at a time, the same by any workers and in both languages, and told in
the shell, the checks, the report and a figure. R's own tests look at the ranks (test-calibrate.R).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.analysis.archive.steps import read_step, steps_of
from slant.analysis.pages.parts.records import SectionData
from slant.analysis.pages.parts.registry import calibration
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.checks.check_findings import kept_calibrations, sampler_quality
from slant.analysis.questions.checks.sentences import Context
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.studies.catalogue import load_study
from tests.support.choices_made import database_of_choices
from tests.support.commands import run_analyze
from tests.support.stored import rows_in

pytestmark = [pytest.mark.slow, pytest.mark.needs("brms")]
BRIEF: dict[str, Any] = {"chains": 1, "iterations": 200, "warmup": 100}
FLAGS = ["--chains", "1", "--iterations", "200", "--warmup", "100"]
INTERFERENCE = ("interference", "interference")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database_of_choices(tmp_path_factory.mktemp("calibrated") / "a.duckdb", words=3)


@pytest.fixture(scope="module")
def found(db: Path) -> analysis.Calibration:
    return analysis.calibrate(db, *INTERFERENCE, data_sets=3, workers=1, settings=BRIEF)


def n_kept(db: Path) -> int:
    return int(rows_in(db, "SELECT count(*) FROM calibration_fits")[0][0])


def test_each_quantity_has_a_rank_in_each_data_set_and_a_row_over_all(found: analysis.Calibration) -> None:
    quantities = found.summary["quantity"].to_list()
    assert quantities[:2] + quantities[-1:] == ["intercept", "blockincongruent", "log_lik"]
    assert "delta_p: gpt-5, gender_career" in quantities
    assert found.ranks.group_by("quantity").len()["len"].to_list() == [3] * len(quantities)
    assert found.ranks.filter(pl.col("rank").is_between(0, 99)).height == found.ranks.height
    assert found.summary["n"].to_list() == [3] * len(quantities)
    assert found.fits["n_rows"].to_list() == [20] * 3  # the valid answers


def test_the_same_call_fits_nothing_and_one_of_more_data_sets_adds_to_them(
    db: Path, found: analysis.Calibration, tmp_path: Path
) -> None:
    own = Path(shutil.copy(db, tmp_path))
    told: list[tuple[int, int]] = []
    again = analysis.calibrate(
        own, *INTERFERENCE, data_sets=3, settings=BRIEF, progress=lambda *done: told.append(done)
    )
    assert again.ranks.equals(found.ranks)
    assert told == [(3, 3)]
    more = analysis.calibrate(own, *INTERFERENCE, data_sets=4, workers=1, settings=BRIEF)
    assert more.ranks.filter(pl.col("number") < 4).equals(found.ranks)
    assert n_kept(own) == 4
    fewer = analysis.calibrate(own, *INTERFERENCE, data_sets=3, settings=BRIEF)  # what more have said stays
    assert fewer.summary.equals(found.summary)
    assert analysis.open_trials(own, view="calibration_summary")["n"].unique().to_list() == [4]


def test_views_the_figure_the_checks_and_the_report_say_what_is_kept(db: Path, found: analysis.Calibration) -> None:
    study = load_study("interference")
    assert analysis.tables(db, names=["calibration_ranks"])["calibration_ranks"].height == found.ranks.height
    ((figure),) = figure_rows(db, study, ["calibration"])
    drawn = (figure.function, figure.part, figure.rows.height)
    assert drawn == ("plot_calibration", "interference", found.ranks.height)
    rows = kept_calibrations(db, "interference", None)["calibration"]
    finding = sampler_quality({"calibration": rows}, Context({}, {}, {}, 0.05, 0.1, False))
    assert finding.sentence.startswith("In 1 Bayesian fit of data drawn from the priors, ")
    grain = {name: rows[name][0] for name in ("source", "study_version", "variant")}
    group = calibration(SectionData(study, {"calibration_summary": rows}, {}, grain))
    assert group is not None
    assert finding.details == group.texts[1:]


def test_what_is_kept_is_a_step_of_an_archive(db: Path, found: analysis.Calibration) -> None:
    study = load_study("interference")
    (step,) = [step for step in steps_of(db, study, ()) if step.kind == "calibration"]
    assert step.arguments["data_sets"] == found.fits.height
    assert read_step(json.loads(json.dumps(step.as_json()))).frames(db, study, 1, None)["summary"].equals(found.summary)


def test_the_shell_prints_what_python_has(db: Path, found: analysis.Calibration) -> None:
    words = ["calibrate", "--study", "interference", "--fit", "interference", "--data-sets", "3"]
    result = run_analyze(*words, *FLAGS, "--db", db, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    printed = pl.read_csv(result.stdout.encode(), infer_schema_length=None)
    assert printed["quantity"].to_list() == found.summary["quantity"].to_list()
    assert "interference: of" in result.stderr


def test_what_can_not_be_calibrated_is_said_before_anything_is_fitted(db: Path) -> None:
    with pytest.raises(UsageError, match='Can\'t calibrate "interference_lme4", which is of the engine lme4'):
        analysis.calibrate(db, "interference", "interference_lme4")
    with pytest.raises(UnknownNameError, match="setting of a calibration"):
        analysis.calibrate(db, *INTERFERENCE, settings={"thin": 2})
    with pytest.raises(UsageError, match="data_sets must be at least 2"):
        analysis.calibrate(db, *INTERFERENCE, data_sets=1)


def test_ranks_are_the_same_by_any_number_of_workers(db: Path, found: analysis.Calibration, tmp_path: Path) -> None:
    own = database_of_choices(tmp_path / "b.duckdb", words=3)
    assert analysis.calibrate(own, *INTERFERENCE, data_sets=3, workers=2, settings=BRIEF).ranks.equals(found.ranks)
