"""Versions stand next to every result, and a result that other versions made says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant import analysis
from slant.analysis.fitting import result_versions
from slant.analysis.fitting.fits import FitResult
from slant.analysis.fitting.result_versions import other_version_sentences, version_sentence
from slant.collector.keep.database import writing
from tests.support.commands import run_analyze
from tests.support.fitted import small_database


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("versions") / "a.duckdb")


@pytest.fixture(scope="module")
def fitted(db: Path) -> FitResult:
    return analysis.fit(db, fit="lme4")


@pytest.mark.slow
def test_the_versions_that_made_a_result_are_told_with_it(db: Path, fitted: FitResult) -> None:
    told = version_sentence(fitted)
    assert told.startswith(("Made with R 4.", "Made with R 5."))
    assert all(f" {package} " in told for package in ("lme4", "lmerTest", "slant"))
    answer = run_analyze("--fit", "lme4", "--db", db, "--format", "csv")
    assert told in answer.stderr
    assert told not in answer.stdout


def test_results_of_the_versions_here_are_not_doubted(db: Path, fitted: FitResult) -> None:
    assert fitted.diagnostics.height == 2
    assert list(other_version_sentences(db)) == []


@pytest.mark.slow
def test_kept_results_of_other_versions_say_so(tmp_path: Path, fitted: FitResult) -> None:
    db = small_database(tmp_path / "a.duckdb")
    analysis.fit(db, fit="lme4")
    with writing(db) as connection:
        other = """replace(versions, '"lmerTest": "3', '"lmerTest": "2')"""
        mini = "SELECT call_id FROM fits WHERE model = 'o3-mini'"
        connection.execute(f"UPDATE calls SET versions = {other} WHERE call_id IN ({mini})")  # noqa: S608
    (said,) = other_version_sentences(db, "rmiat")
    assert said.startswith("Other versions: 1 fit of lme4 kept from lmerTest 2.")
    assert "(here 3." in said or "(here 4." in said
    assert list(other_version_sentences(db, "hiring")) == []


def test_without_r_what_is_kept_says_what_made_it(db: Path, fitted: FitResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_versions, "versions_now", lambda packages: None)
    (said,) = other_version_sentences(db)
    assert "2 fits of lme4 kept from R " in said
    assert said.endswith("R or one of these packages is missing here.")


@pytest.mark.slow
def test_the_report_says_on_top_what_other_versions_made(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    analysis.fit(db, fit="lme4")
    with writing(db) as connection:  # no fit of today's study has this name, so that nobody makes it again
        other = """replace(versions, '"lmerTest": "3', '"lmerTest": "2')"""
        connection.execute(f"UPDATE calls SET call_id = 'old' || call_id, about = 'older', versions = {other}")  # noqa: S608
        connection.execute("UPDATE fit_cells SET call_id = 'old' || call_id, fit = 'older'")
    page = analysis.report(db, out=tmp_path / "report.html").read_text("utf-8")
    assert "Other versions: 2 fits of older kept from lmerTest 2." in page
