"""Fits of factorial studies: attributes are factors by their own names, and the numbers are R's."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.analysis import fit, report, tables
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.fitting.fits import _statistic
from slant.analysis.pages.answers import _compared, _corrected, _of_first_term, _unit, answers_of_fit
from slant.analysis.pages.comparison_words import Cell, rounded, sentences
from slant.analysis.plots.registry import figure_rows
from slant.analysis.rows.cells import GRAIN, read_rows, warning_of_pooled_units
from slant.collector import export_trials, import_trials
from slant.collector.designs.study import Study
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study
from tests.support.plain_r import rscript
from tests.support.tiny_audit import write_audit

FITS = """
[simulation]
utilities = { gender = { woman = 0.8 }, job = { nurse = -0.5 } }
refusal_rate = 0.05

[fits.linear]
engine = "lm"
view = "factorial_profiles"
formula = "rating ~ gender * job"
where = { question = "rating" }
by = ["model"]

[fits.hire]
engine = "logistic"
view = "factorial_profiles"
formula = "chosen ~ gender + job"
where = { question = "hire" }
by = ["model", "test"]

[fits.mixed]
engine = "lme4"
view = "factorial_profiles"
formula = "rating ~ gender * job + (1 | name)"
where = { question = "rating" }
by = ["model"]
"""


def import_simulated(study: Study, db: Path, rows: Path, repetitions: int) -> None:
    """Answers as the design simulates them, imported: no server is asked."""
    model = study.models[0]
    lines = []
    for conversation in plan(study, model, repetitions=repetitions):
        for trial in conversation.trials:
            reply = study.design.simulates.simulate(study, model, trial, 7)
            place = {name: getattr(trial, name) for name in ("model", "test", "condition", "item", "group", "wording")}
            lines.append({**place, "repetition": trial.repetition, "answer": reply.answer})
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    report = import_trials(db, study, [rows], variant=study.variant)
    assert report.problems == []
    assert db.exists(), report.warnings  # rows of a database that is busy wait in the journal


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Study]:
    folder = tmp_path_factory.mktemp("audit")
    file = write_audit(folder)
    file.write_text(file.read_text("utf-8") + FITS, encoding="utf-8")
    study = load_study(file)
    import_simulated(study, folder / "a.duckdb", folder / "rows.jsonl", 6)
    return folder / "a.duckdb", study


def test_answers_in_different_units_are_not_analysed_together_without_a_word(place: tuple[Path, Study]) -> None:
    db, study = place
    own = replace(study.fits["mixed"], formula="measured ~ gender + (1 | name)", where={})
    (pooled,) = plan_fits(db, study, own)
    assert pooled.cell.warnings == (
        "Answers in different units are analysed together: hire (0 or 1), rating (1 to 5). To fit each question "
        'alone: by = ["model", "test"], or where = { question = "hire" }.',
    )
    alone = (replace(own, by=("model", "test")), replace(own, where={"question": ("rating",)}))
    meant = [replace(own, formula=f"measured ~ gender * {name} + (1 | name)") for name in ("question", "test")]
    said = [planned.cell.warnings for fit in (*alone, *meant) for planned in plan_fits(db, study, fit)]
    assert len(said) == 5
    assert "units" not in str(said)
    unknown = {
        "question": ["a", "b"],
        "kind": ["scale"] * 2,
        "low": [None, 1],
        "high": [None, 7],
        "measured": [1.0, 2.0],
    }
    assert "a (a scale), b (1 to 7)." in str(warning_of_pooled_units(pl.DataFrame(unknown), own))  # ends not imported


@pytest.mark.slow
def test_coefficients_of_three_engines_are_those_of_plain_r_on_the_exported_rows(
    place: tuple[Path, Study], tmp_path: Path
) -> None:
    db, study = place
    export_trials(db, out=tmp_path / "rows.csv", view="factorial_profiles")
    there = [float.fromhex(line) for line in rscript("factorial_from_csv.R", tmp_path / "rows.csv")]
    here = [value for name in ("linear", "hire", "mixed") for value in fit(db, study, name).table["estimate"]]
    assert here == pytest.approx(there, rel=1e-6)
    assert len(here) == 4 + 3 + 4


def test_levels_come_from_the_study_and_only_rows_of_the_question_are_taken(place: tuple[Path, Study]) -> None:
    db, study = place
    definition = study.fits["mixed"]
    assert definition.levels == {"gender": ("woman", "man"), "job": ("clerk", "nurse")}
    made = fit(db, study, "mixed")
    assert made.table["term"].to_list() == ["intercept", "genderman", "jobnurse", "genderman:jobnurse"]
    answered = tables(db, names=["factorial_marginal_means"])["factorial_marginal_means"]
    assert made.diagnostics["n"].to_list() == [answered.filter(question="rating", attribute="job")["n"].sum()]


@pytest.mark.slow
def test_numbers_are_numbers_unless_a_fit_lists_them_as_levels(tmp_path: Path) -> None:
    jobs = 'job = { levels = { clerk = "a clerk", nurse = "a nurse" } }'
    file = write_audit(tmp_path, (jobs, "job = [20, 40]"))
    one = '[fits.one]\nengine = "lm"\nview = "factorial_profiles"\nformula = "rating ~ job"\n'
    file.write_text(f"{file.read_text('utf-8')}\n{one}", encoding="utf-8")
    study = load_study(file)
    import_simulated(study, tmp_path / "a.duckdb", tmp_path / "rows.jsonl", 1)
    assert read_rows(tmp_path / "a.duckdb", "shops", [study.fits["one"]], None).frame["job"].dtype == pl.Float64
    file.write_text(f"{file.read_text('utf-8')}levels = {{ job = [20, 40] }}\n", encoding="utf-8")
    listed = load_study(file).fits["one"]
    assert read_rows(tmp_path / "a.duckdb", "shops", [listed], None).frame["job"].dtype == pl.String


@pytest.mark.slow
def test_a_report_shows_what_is_missing_by_level_and_names_factors_and_levels(
    place: tuple[Path, Study], tmp_path: Path
) -> None:
    db, study = place
    page = report(db, study, tmp_path / "r.html").read_text("utf-8")
    for title in ("answers that are missing, by level", "what was shown", "answers by level"):
        assert title in page
    first_screen = page[: page.index("<main>")]
    assert "man against woman" in first_screen
    assert all(f"{study.models[0].model}, {question}" in first_screen for question in ("rating", "hire"))
    assert "gender: man × job: nurse" in page
    assert "genderman" not in page


@pytest.mark.slow
def test_the_figure_of_levels_has_the_means_of_the_view_in_the_order_of_the_study(place: tuple[Path, Study]) -> None:
    db, study = place
    (drawn,) = [figure for figure in figure_rows(db, study, ["marginal_means"]) if figure.part == "rating"]
    shown = drawn.rows.filter(attribute="gender")
    assert shown["level"].to_list() == ["woman", "man"]
    means = tables(db, names=["factorial_marginal_means"])["factorial_marginal_means"]
    expected = means.filter(question="rating", attribute="gender").sort("level", descending=True)
    assert shown["estimate"].to_list() == pytest.approx(expected["mean"].to_list())
    assert (shown["conf_low"] < shown["estimate"]).all()


def test_the_figure_of_ratings_counts_each_answer_of_the_scale(place: tuple[Path, Study]) -> None:
    db, study = place
    (drawn,) = figure_rows(db, study, ["ratings"])
    of_jobs = drawn.rows.filter(attribute="job")
    answered = tables(db, names=["factorial_marginal_means"])["factorial_marginal_means"]
    assert of_jobs["n"].sum() == answered.filter(question="rating", attribute="job")["n"].sum()
    assert of_jobs["category"].is_between(1, 7).all()


def test_other_attributes_of_a_conjoint_are_named_if_one_of_all_their_levels_differs(place: tuple[Path, Study]) -> None:
    db, study = place
    made = fit(db, study, "amce")
    levels = made.tables["amce"]["levels"].filter(pl.col("attribute") != "gender")
    p_values = made.table.filter(pl.col("term").is_in(levels["term"].implode()))["p_value"].drop_nulls()
    said = answers_of_fit(study, "amce", made, made.table.select(GRAIN).row(0, named=True))[-1]
    assert said.startswith("Of the other attributes, ")
    assert ("levels of" in said) == (p_values.min() * p_values.len() < 0.05)
    assert all(name in said for name in levels["attribute"].unique())


def test_a_fit_is_also_a_sentence_for_the_factor_that_comes_first(place: tuple[Path, Study]) -> None:
    db, study = place
    made = fit(db, study, "linear")
    grain = made.table.select(GRAIN).row(0, named=True)
    (p_value,) = made.table.filter(term="genderman")["p_value"]
    assert answers_of_fit(study, "linear", made, grain)[0].startswith(
        f"small, rating, where job is clerk: no difference was found for man against woman (p = {p_value:.3f}".replace(
            "0.", "."
        )
    )
    assert re.search(r"small, hire: .* log odds", answers_of_fit(study, "hire", fit(db, study, "hire"), grain)[0])
    ratios = fit(db, study, "impact_ratio")
    [said] = answers_of_fit(study, "impact_ratio", ratios, grain)
    lowest = ratios.tables["impact_ratio"]["ratios"].filter(attribute="gender").sort("ratio").row(0, named=True)
    assert f"{lowest['ratio']:.2f} times as frequent for {lowest['level']} as for {lowest['reference']}" in said
    made = fit(db, study, "mean_contrasts")
    rating, hire = made.tables["mean_contrasts"]["contrasts"].filter(attribute="gender").to_dicts()
    said = " ".join(answers_of_fit(study, "mean_contrasts", made, grain))
    for row, unit, factor in ((rating, "points", 1), (hire, "percentage points", 100)):
        low, high = (rounded(row[end] * factor) for end in ("conf_low", "conf_high"))
        limit = rounded(max(abs(row["conf_low"]), abs(row["conf_high"])) * factor)
        found = rf"{unit} (more|less) for man than woman \(95 % interval {low} to {high}"
        assert re.search(found if row["p_adjusted"] < 0.05 else f"lie within ±{limit} {unit}", said)


def test_a_factor_of_three_levels_is_answered_by_all_its_levels_and_one_test() -> None:
    cell = {"model": "m", "test": "t", "refusals_removed": False, "measure": None}
    terms = {"intercept": 0.001, "raceblack": 0.82, "raceasian": 0.0255, "age": 0.9}
    rows = pl.DataFrame([{**cell, "term": term, "p_value": p} for term, p in terms.items()])
    result: Any = SimpleNamespace(table=rows)
    made = _of_first_term(result, {"race": ("white", "black", "asian")}, {})
    assert made.select("first", "second", "attribute").rows() == [
        ("white", "black", "race"),
        ("white", "asian", "race"),
    ]
    assert made["p"].to_list() == pytest.approx([0.82, 0.051])
    assert _statistic({"f_value": None, "chi_squared": 7.59, "df": 2.0}) == "chi squared(2) = 7.59"


def test_points_of_a_scale_and_percentage_points_are_not_counted_together() -> None:
    row = {"estimate": 2.0, "conf_low": 1.0, "conf_high": 3.0, "p": 0.01}
    cells = [
        Cell(f"m{n}", test, "man than woman", unit, [row])
        for test, unit in (("rating", "points"), ("invite", "percentage points"))
        for n in range(4)
    ]
    assert [one.partition(" than")[0] for one in sentences(cells) if "of 4" in one and "more" in one] == [
        "rating: 4 of 4 models have more points for man",
        "invite: 4 of 4 models have more percentage points for man",
    ]
    assert len(sentences(cells[:5])) == 3
    made: Any = SimpleNamespace(engine="mean_contrasts", settings={})
    assert [_unit(made, "number", unit) for unit in ("percent", "euros", "")] == ["percentage points", "euros", "units"]


def test_rows_without_a_refusal_are_of_the_fit_that_removes_them(place: tuple[Path, Study]) -> None:
    db, study = place  # else an answer, which is of rows without refusals, leaves out a model that refused nothing
    for outcomes in (("filtered",), ("refused",), ()):
        (planned,) = plan_fits(db, study, replace(study.fits["linear"], drop_outcomes=outcomes))
        assert planned.refusals_removed == bool(outcomes)
    assert planned.call.columns["dropped"] is None


def test_a_mean_alone_is_compared_with_zero() -> None:
    row = {"term": "intercept", "estimate": 0.6, "conf_low": 0.4, "conf_high": 0.8, "p": 0.01, "first": None}
    what = _compared(pl.DataFrame([row | {"second": None, "attribute": "intercept"}]), {})
    assert sentences([Cell("m", "tea", what, "d", [row])])[0].startswith("m, tea: 0.60 d more than 0 (95 % interval")


def test_an_answer_says_where_a_level_has_few_items() -> None:
    row = {"estimate": 9.0, "conf_low": -150.0, "conf_high": 168.0, "p": 0.4, "p_value": 0.4, "clusters": "item"}
    few = row | {"n_clusters": 2, "df": 1.0}
    ends = [" (a level has 2 items, and repetitions add none).", "any difference.", "any difference."]
    cells = [Cell("m", "hire", "b than a", "percentage points", [one]) for one in (few, few | {"df": 9.0}, row)]
    assert [said.endswith(end) for said, end in zip(sentences(cells), ends, strict=True)] == [True] * 3


def test_a_difference_without_an_error_is_told_and_never_called_none() -> None:
    row = {
        "estimate": 2.0,
        "conf_low": None,
        "conf_high": None,
        "p": None,
        "p_value": None,
        "first": "f",
        "second": "m",
    }
    same, known = row | {"estimate": 1e-16, "second": "x"}, row | {"conf_low": -1.0, "conf_high": 5.0, "p": 0.2}
    why = "standard errors are 0 or unknown)."
    for what, rows, said in (
        ("m than f", [row], f"a, t: 2.0 points more for m than f, without an interval or test ({why}"),
        ("m than f", [same], f"a, t: exactly the same for m and f, without an interval or test ({why}"),
        ("sex", [same, row], f"a, t: 2.0 points more at most, for m than f, without an interval or test ({why}"),
        ("sex", [same] * 2, f"a, t: exactly the same at all levels of sex, without an interval or test ({why}"),
        (
            "sex",
            [known, same],
            f"a, t: no difference between levels of sex was found in 1 pair; 1 could not be tested ({why}",
        ),
    ):
        assert sentences([Cell("a", "t", what, "points", rows)]) == [said]
    cells = [Cell(model, "t", "m than f", "points", [row if model == "a" else known]) for model in "abcde"]
    assert sentences(cells)[0].startswith("none of 4 models have more") or sentences(cells)[0].startswith(
        "0 of 4 models"
    )
    assert sentences(cells)[-1] == f"1 of 5 cells could not be tested ({why[:-2]})."


def test_a_small_p_that_correction_takes_away_is_counted_where_no_difference_is_found() -> None:
    row = {"estimate": 1.0, "conf_low": 0.1, "conf_high": 1.9, "first": "f", "second": "m", "p_value": 0.04}
    rows = [row | {"p": 0.08}, row | {"p_value": 0.5, "p": 0.5, "second": "x"}]
    (said,) = sentences([Cell("a", "t", "sex", "points", rows)])
    assert said.startswith("a, t: no difference between levels of sex was found in 2 pairs (1 with p < .05 before")
    cells = [
        Cell(model, "t", "m than f", "points", [row | {"p": p}])
        for model, p in zip("abcd", (0.01, 1, 1, 1), strict=True)
    ]
    assert "In the other 3 no difference was found (3 with p < .05 before correction); 95 %" in sentences(cells)[1]


@given(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=12))
def test_corrected_p_is_holms_over_those_that_are_known(values: list[float | None]) -> None:
    known = sorted(value for value in values if value is not None)
    steps = [min(1.0, (len(known) - n) * value) for n, value in enumerate(known)]
    expected = [None if value is None else max(steps[: known.index(value) + 1]) for value in values]
    made = _corrected(pl.DataFrame({"p_value": values}, schema={"p_value": pl.Float64}), over=())
    assert [p is None for p in made["p"]] == [p is None for p in expected]
    assert made["p"].drop_nulls().to_list() == pytest.approx([p for p in expected if p is not None])
