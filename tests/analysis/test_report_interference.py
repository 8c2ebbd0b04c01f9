"""The report and the figures of the two-stage analysis: of kept fits only, and doubtful ones say so."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.worker import run_jobs
from slant.analysis.plots.registry import figure_rows
from slant.collector.errors import DatabaseError
from slant.collector.studies.catalogue import load_study
from tests.support.choices_made import QUICK, database_of_choices
from tests.support.recovery import r_job

pytestmark = [pytest.mark.slow, pytest.mark.needs("R")]
STUDY = "interference"
IMAGE = re.compile(r'<img [^>]*alt="([^"]*)"')


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database_of_choices(tmp_path_factory.mktemp("bayes") / "a.duckdb")


@pytest.fixture(scope="module")
def unfitted(db: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return analysis.report(db, STUDY, tmp_path_factory.mktemp("page") / "r.html").read_text("utf-8")


@pytest.fixture(scope="module")
def fitted(db: Path, unfitted: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same database after two short fits, which do not converge."""
    for fit in ("compliance", "interference"):
        analysis.fit(db, STUDY, fit, settings=QUICK)
    return analysis.report(db, STUDY, tmp_path_factory.mktemp("page") / "r.html").read_text("utf-8")


def section(page: str, anchor: str) -> str:
    return re.split(r"<h2 ", page[page.index(f'id="{anchor}-1"') :])[0]


def test_a_report_starts_no_long_fit_and_says_what_to_type(db: Path, unfitted: str) -> None:
    words = re.sub(r"<[^>]+>", "", unfitted)
    for command in ("--fit brms", "permute", "sensitivity"):
        assert f"type analyze {command} --study interference" in words
    assert "Bayesian models: compliance, interference" in words
    with duckdb.connect(str(db), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM fits").fetchall() == [(0,)]


def test_what_is_counted_is_there_without_any_fit(unfitted: str) -> None:
    counted = section(unfitted, "answers")
    assert "Table 3. Observed compliance: valid answers, and kinds of other answers" in counted
    assert all(f">{outcome}</th>" in counted for outcome in ("refused", "filtered", "truncated", "malformed"))


def test_kept_fits_give_tables_1_and_2_of_both_kinds(fitted: str) -> None:
    stages = section(fitted, "stages")
    assert "Not made yet" not in stages
    for caption in ("Table 1. Interference", "Table 2. Predicted compliance", "Diagnostics of the chains"):
        assert f"<summary>{caption}" in stages
    assert stages.count("<td>median word</td>") == stages.count("<td>averaged over the words</td>") > 0
    assert re.search(r"<td>-?0\.\d{3} \[-?0\.\d{3}, 0\.\d{3}\]</td>", stages)
    assert "<td>σ of item</td>" in stages


def test_a_fit_that_did_not_converge_says_so_on_top_and_under_every_figure(fitted: str) -> None:
    top = fitted[: fitted.index("<main")]
    assert "all models: " in top
    assert "R-hat goes up to" in top or "effective sample size goes down to" in top
    alternatives = IMAGE.findall(fitted)
    assert len(alternatives) == 4  # compliance, interference, and a predictive check of each
    assert all("This fit did not converge. Doubtful" in text for text in alternatives)


def test_figures_of_fits_know_their_fit_and_what_was_observed(db: Path, fitted: str) -> None:
    found = {(one.figure, one.part): one for one in figure_rows(db, load_study(STUDY))}
    checked = [("predictive_checks", "compliance"), ("predictive_checks", "interference")]
    assert list(found) == [("compliance", None), ("condition_contrasts", None), *checked]
    compliance = found["compliance", None].rows
    trials = analysis.open_trials(db, view="forced_choice_trials")
    share = trials.group_by("model", "test", "condition").agg(seen=pl.col("is_valid").mean())
    both = compliance.join(share, on=["model", "test", "condition"], how="left")
    assert both["observed"].to_list() == pytest.approx(both["seen"].to_list())


def test_figures_are_drawn_into_files_named_after_their_fit(db: Path, fitted: str, tmp_path: Path) -> None:
    drawn = analysis.figures(db, STUDY, tmp_path, names=["predictive_checks"], formats=["svg"])
    names = [Path(path).name for path in drawn["path"]]
    assert names == [f"predictive_checks-{fit}-simulated-base.svg" for fit in ("compliance", "interference")]
    assert drawn["note"].str.contains("analyze --fit brms --study interference").all()  # other settings


def test_a_figure_of_a_missing_fit_says_what_makes_it(tmp_path: Path) -> None:
    db = database_of_choices(tmp_path / "b.duckdb")
    with pytest.raises(DatabaseError, match="analyze --fit brms --study interference"):
        analysis.figures(db, STUDY, tmp_path, names=["condition_contrasts"])


def test_simulated_participants_of_r_have_the_columns_of_the_view(db: Path) -> None:
    ((_, frame),) = list(run_jobs(r_job, [("simulate_forced_choice", ())], 1))
    view = analysis.open_trials(db, view="forced_choice_trials")
    assert frame.columns == view.columns
