"""Fits name what is known of people as columns, and never put people and models into one cell."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.fitting.fit_plan import of_people
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.checks.check_findings import findings
from slant.analysis.questions.checks.study_checks import check
from slant.collector import collect, import_trials
from slant.collector.studies.catalogue import load_study
from slant.collector.study.records import Fit

STUDY = """
name = "traits"
title = "Traits"
design = "factorial"
factors.item = ["I talk a lot", "I worry"]
templates.plain = "How much does this describe you? {item}"
questions.rating = { text = "Answer.", kind = "scale", max = 5 }
models = [{ model = "gpt-6-luna", provider = "openai" }]
[people]
age_group = ["young", "old"]
years = "number"
[fits.age]
engine = "lm"
view = "factorial_trials"
by = ["model", "test"]
formula = "rating ~ age_group + years"
[fits.mixed]
engine = "lme4"
view = "factorial_trials"
by = ["model", "test"]
formula = "rating ~ 1 + (1 | item)"
[fits.items]
engine = "lm"
view = "factorial_trials"
by = ["model", "test"]
formula = "rating ~ item"
"""
SAID = {"layout": "people", "consent": "informed", "origin": "a test"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    (folder / "study.toml").write_text(STUDY)
    people = [(n, "old" if n % 2 else "young", 20 + n) for n in range(12)]
    rows = [
        {"participant": n, "age_group": age, "years": years, "item": item, "answer": 1 + (n * (1 + place)) % 5}
        for n, age, years in people
        for place, item in enumerate(("I talk a lot", "I worry"))
    ]
    pl.DataFrame(rows).write_csv(folder / "rows.csv")
    import_trials(folder / "t.duckdb", str(folder / "study.toml"), [folder / "rows.csv"], **SAID)
    collect(folder / "t.duckdb", str(folder / "study.toml"), simulated=True, repetitions=6)
    return folder


@pytest.mark.slow
def test_what_is_known_of_people_is_a_column_and_people_and_models_are_fitted_apart(place: Path) -> None:
    fitted = analysis.fit(place / "t.duckdb", str(place / "study.toml"), "lm").table
    cells = fitted.filter(fit="items").select("source", "model").unique(maintain_order=True).rows()
    assert sorted(cells) == [("human", "people"), ("simulated", "gpt-6-luna")]
    rows = pl.read_csv(place / "rows.csv").with_columns(old=(pl.col("age_group") == "old").cast(pl.Int8))
    of_age = fitted.filter(fit="age", source="human")
    assert of_age["term"].to_list() == ["intercept", "age_groupold", "years"]
    slope = of_age.filter(term="years")["estimate"].item()
    assert slope == pytest.approx(partial_slope(rows, "years", "old"), abs=1e-9)


def partial_slope(rows: pl.DataFrame, name: str, other: str) -> float:
    """The coefficient of one of two variables, by what is left of both after the other (two levels: within each)."""
    within = rows.select(pl.col(name, "answer") - pl.col(name, "answer").mean().over(other))
    [covariance], [variance] = within.select(
        (pl.col(name) * pl.col("answer")).sum(), (pl.col(name) ** 2).sum().alias("variance")
    )
    return float(covariance / variance)


def test_persons_are_clusters_and_random_effects_of_people_and_of_no_model(place: Path) -> None:
    db, study = place / "t.duckdb", str(place / "study.toml")
    mixed = analysis.fit(db, study, "mixed").diagnostics.select("source", "formula").rows()
    assert dict(mixed) == {
        "human": "rating ~ 1 + (1 | item) + (1 | participant)",
        "simulated": "rating ~ 1 + (1 | item)",
    }
    means = analysis.fit(db, study, "marginal_means")
    used = dict(means.diagnostics.select("source", "optimiser").rows())
    assert used["human"] == "closed form, clusters: participant (one person's answers depend on each other)"
    assert used["simulated"].startswith("closed form, clusters:")
    assert means.table.filter(source="human")["df"].unique().to_list() == pytest.approx([11])


def test_a_fit_that_names_persons_itself_is_as_the_study_says() -> None:
    fit = Fit("a", "lme4", "v", "x ~ 1 + (1 | respondent)", None, None, ("model",), {}, (), (), {}, ())
    assert of_people(fit) is fit


def test_what_a_study_declares_of_personas_is_not_asked_of_people_who_have_none() -> None:
    declared = {"properties": {"party": "persona"}, "cells": ["job", "persona"], "prompt": ["item"]}
    for cluster, of_person in (("item", "participant"), ("respondent", "respondent")):
        settings = {"attributes": ["party"], "cluster": cluster, "declared": declared}
        fit = Fit("a", "marginal_means", "v", "", None, None, ("model",), {}, (), (), settings, ())
        assert "persona" in fit.columns
        assert "persona" not in of_people(fit).columns
        assert of_people(fit).settings == {"attributes": ["party"], "cluster": of_person}


@pytest.mark.slow
def test_a_figure_shows_people_beside_the_models_with_intervals_over_people(place: Path) -> None:
    study = load_study(str(place / "study.toml"))
    [drawn] = figure_rows(place / "t.duckdb", study, ["marginal_means"])
    assert drawn.grain["source"] == "simulated"
    assert set(drawn.rows["model_label"]) == {"People", "gpt-6-luna"}
    assert "Intervals are over the people" in (drawn.note or "")
    shown = drawn.rows.filter(attribute="item", source="human").select("std_error").to_series()
    fitted = analysis.fit(place / "t.duckdb", study, "marginal_means", source="human").table
    of_items = fitted.filter(pl.col("term").str.starts_with("item"))["std_error"]
    assert shown.to_list() == pytest.approx(of_items.to_list())


@pytest.mark.slow
def test_what_is_checked_of_tokens_is_not_asked_of_people(place: Path) -> None:
    checks = check(place / "t.duckdb", str(place / "study.toml"))
    asked = {grain["source"]: [one.check for one in found] for grain, found in findings(checks)}
    assert "token_limits" in asked["simulated"]
    assert "missing_answers" in asked["human"]
    assert "token_limits" not in asked["human"]
    assert [said for said in checks.warnings if "token_limits" in said] == []


PERSONAS = """
name = "voters"
title = "Voters"
design = "factorial"
factors.item = ["I vote", "I give"]
factors.place = ["at home", "at work"]
crossing = { takes = "random", n = 3 }
templates.plain = "How much does this describe you {place}? {item}"
personas = { place = "system", file = "people.csv" }
questions.rating = { text = "Answer.", kind = "scale", max = 5 }
models = [{ model = "gpt-6-luna", provider = "openai" }]
[fits.items]
engine = "lm"
view = "factorial_profiles"
by = ["model", "test"]
formula = "rating ~ item"
"""


@pytest.mark.slow
def test_people_who_answered_once_are_not_missing_for_want_of_a_personas_columns(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(PERSONAS)
    (tmp_path / "people.csv").write_text("level,text,party\nann,You are Ann.,left\nbo,You are Bo.,right\n")
    rows = [
        {"participant": n, "item": ("I vote", "I give")[n % 2], "place": "at home", "rating": 1 + n % 5}
        for n in range(20)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "rows.csv")
    db, study = tmp_path / "t.duckdb", str(tmp_path / "study.toml")
    assert import_trials(db, study, [tmp_path / "rows.csv"], **SAID).problems == []
    for fit in ("items", "marginal_means"):
        assert analysis.fit(db, study, fit).diagnostics.select("n", "n_missing").rows() == [(20, 0)], fit
