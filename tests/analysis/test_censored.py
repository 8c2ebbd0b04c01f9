"""Counts in steps as lognormal ones: from the shell, in the database, and what the authors' data give."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.collector.studies.catalogue import fits_of, load_study
from tests.support.authors import Authors
from tests.support.commands import run_analyze
from tests.support.fitted import small_database

pytestmark = pytest.mark.needs("survival")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("censored") / "a.duckdb")


def test_every_association_study_has_the_fit_without_naming_it() -> None:
    fit = fits_of(load_study("rmiat"))["censored"]
    assert (fit.outcome, fit.contrast, fit.settings) == ("tokens", "condition", {"cluster": ("wording", "item")})
    assert "censored" not in fits_of(load_study("interference"))


@pytest.mark.slow
def test_shell_python_and_database_have_the_same_numbers(db: Path) -> None:
    found = analysis.fit(db, "rmiat", "censored").tables["censored"]
    view = analysis.tables(db, "rmiat", ["ratios_of_medians"])["ratios_of_medians"]
    assert view["ratio"].to_list() == found["effects"]["ratio"].to_list()
    gaussian = found["families"].filter(family="gaussian")
    assert view["aic_gaussian"].to_list() == gaussian["aic_difference"].to_list()
    words = ["--fit", "censored", "--study", "rmiat", "--show", "families", "--format", "csv", "--db", str(db)]
    shown = run_analyze(*words)
    assert (shown.exit_code, shown.stdout.count("two_part")) == (0, len(view))


@pytest.mark.slow
def test_the_authors_zeros_are_predicted_and_families_compare_as_they_are_known_to(authors: Authors) -> None:
    found = analysis.fit(authors.db, "rmiat", "censored").tables["censored"]
    effects = found["effects"].filter(model="o3-mini")
    flowers = effects.row(by_predicate=pl.col("test") == "flowers_insects", named=True)
    zeros = [flowers[f"zeros_{side}"] for side in ("reference", "other")]
    assert (zeros, flowers["step"]) == ([0.273, 0.027], 64)
    assert flowers["zeros_reference_predicted"] == pytest.approx(0.24, abs=0.01)
    assert flowers["zeros_other_predicted"] == pytest.approx(0.03, abs=0.01)
    families = found["families"]
    hurdle = families.filter(model="o3-mini", family="hurdle")["aic_difference"]
    assert (hurdle > 0).sum() == 9
    gaussian = families.filter(pl.col("family") == "gaussian", pl.col("nats") > 0)
    assert len(families.filter(family="gaussian")) == 39
    assert set(gaussian["model"]) == {"gpt-oss-20b"}  # the only one of which it is nearer, in three tests
    assert sorted(gaussian["test"]) == ["gender_career", "gender_math", "gender_science"]
