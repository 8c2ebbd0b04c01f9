"""Ratings and forced choices by R's ordinal and survival: fitted from Python, kept, and read back from the views."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slant import analysis
from slant.analysis.fitting.fits import term_test_sentences
from slant.analysis.pages.answers import answers_of_fit
from slant.collector.studies.catalogue import Study, load_study
from tests.support.fitted import RUN, trials
from tests.support.given import database

LEVELS = {"condition": ("compatible", "incompatible")}


def study_with(**fit: object) -> Study:
    """The shipped study whose only fit is this one."""
    study = load_study("rmiat")
    given: dict[str, object] = {"name": "own", "by": ("model",), "levels": LEVELS, "settings": {}, **fit}
    return replace(study, fits={"own": replace(study.fits["lme4"], **given)})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tokens as ratings of 2 to 5."""
    rows = [{**row, "tokens": min(5, max(1, row["tokens"] // 60)), "answer": "Pleasant"} for row in trials()]
    return database(tmp_path_factory.mktemp("ratings") / "a.duckdb", rows, [RUN])


@pytest.mark.needs("ordinal", "sandwich")
def test_a_rating_has_thresholds_tests_clusters_and_shares_of_each_point(db: Path) -> None:
    study = study_with(engine="clm", formula="tokens ~ condition", settings={"cluster": "item:wording"})
    found = analysis.fit(db, study, "own")
    assert found.diagnostics["status"].to_list() == ["ok", "ok"]
    assert found.table.filter(model="o3-mini")["term"].to_list()[-2:] == ["4|5", "conditionincompatible"]
    shifts = analysis.tables(db, "rmiat", ["category_effects"])["category_effects"]
    assert shifts.filter(model="o3-mini")["category"].to_list() == ["2", "3", "4", "5"]
    assert shifts.filter(model="o3-mini")["estimate"].sum() == pytest.approx(0)
    assert set(analysis.tables(db, "rmiat", ["tests_of_terms"])["tests_of_terms"]["engine"]) == {"clm"}
    over = analysis.tables(db, "rmiat", ["estimates_over_clusters"])["estimates_over_clusters"]
    assert set(over["method_clustered"]) == {"robust"}
    grain = found.table.select("source", "study_version", "variant").row(0, named=True)
    assert "for incompatible than compatible" in answers_of_fit(study, "own", found, grain)[0]  # and not for 2|3


@pytest.mark.slow
@pytest.mark.needs("ordinal")
def test_a_mixed_model_of_ratings_keeps_its_variances(db: Path) -> None:
    found = analysis.fit(db, study_with(engine="clmm", formula="tokens ~ condition + (1 | wording)"), "own")
    assert set(found.diagnostics["status"]) <= {"ok", "singular"}
    assert found.variances["group"].to_list() == ["wording", "wording"]


@pytest.mark.needs("survival")
def test_sets_that_hold_no_choice_are_said(db: Path) -> None:
    fit = {"engine": "clogit", "formula": "is_refusal ~ condition", "settings": {"sets": ["item", "wording"]}}
    found = analysis.fit(db, study_with(**fit, drop_outcomes=()), "own")
    assert found.diagnostics["status"].to_list() == ["failed", "failed"]
    assert "in all 80 rows: there is nothing to explain" in found.messages.filter(kind="error")["text"][0]


@pytest.mark.needs("clubSandwich")
def test_items_that_are_their_own_clusters_have_no_test_and_leave_that_of_the_condition(db: Path) -> None:
    study = study_with(engine="lm", formula="tokens ~ item + condition", settings={"cluster": "item"})
    found = analysis.fit(db, study, "own")
    assert set(found.table.drop_nulls("p_value")["term"]) == {"conditionincompatible"}
    assert term_test_sentences(found) == []
    grain = found.table.select("source", "study_version", "variant").row(0, named=True)
    said = answers_of_fit(study, "own", found, grain)
    assert all("without an interval or test" in text for text in said)  # of the first factor, and no other stands in
