"""Token counts by Bayesian models: from the shell, in the database, on the page of checks, in the report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.cli.options import COUNT_FAMILIES
from slant.analysis.fitting.fits import FitResult
from slant.analysis.fitting.frames import fits_to_show
from slant.analysis.pages.parts.records import SectionData
from slant.analysis.pages.parts.registry import ratios
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.checks.check_findings import findings
from slant.analysis.questions.checks.count_finding import count_models, kept_count_models
from slant.analysis.questions.checks.sentences import Context, Verdict
from slant.analysis.questions.checks.study_checks import check
from slant.collector.keep.database import writing
from slant.collector.studies.catalogue import Study, fits_of, load_study
from tests.conftest import ROOT
from tests.support import TESTS
from tests.support.commands import run_analyze
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import database, fill, read_rows

pytestmark = pytest.mark.slow

QUICK = {"chains": 1, "iterations": 200, "warmup": 100}
ONE = {"model": ["o3-mini"]}


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("rmiat")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts in steps of 64, a fifth of them 0."""
    rows = [{**row, "tokens": 64 * max(0, (row["tokens"] - 150) // 64)} for row in trials()]
    return database(tmp_path_factory.mktemp("counts") / "a.duckdb", rows, [RUN])


@pytest.fixture(scope="module")
def found(db: Path) -> FitResult:
    return analysis.fit(db, "rmiat", "brms", settings=QUICK, only=ONE)


def finding(rows: pl.DataFrame) -> Verdict:
    context = Context({}, {}, {"compatible": "Compatible", "incompatible": "Incompatible"}, 0.05, 0.1, False)
    return count_models({"counts": rows}, context)


def test_every_association_study_has_the_fit_without_naming_it(study: Study) -> None:
    fit = fits_of(study)["brms"]
    assert fit.formula == "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"
    assert (fit.settings["family"], fit.settings["step"], fit.by) == ("lognormal", "token_step", ("model", "test"))
    assert fits_of(load_study("interference")).keys() == load_study("interference").fits.keys()


def test_the_families_of_the_shell_are_those_of_r() -> None:
    text = (ROOT / "R" / "count_families.R").read_text("utf-8")
    assert {name for name in COUNT_FAMILIES if f"\n  {name} = function(step)" in text} == set(COUNT_FAMILIES)
    assert text.count(" = function(step) {\n") == len(COUNT_FAMILIES)


@pytest.mark.needs("brms")
def test_shell_python_and_database_have_the_same_numbers(db: Path, found: FitResult) -> None:
    effects = found.bayes["effects"]
    view = analysis.tables(db, "rmiat", ["bayes_ratios"])["bayes_ratios"]
    assert effects.select("family", "step", "model").row(0) == ("lognormal", 64, "o3-mini")
    assert view["ratio"].to_list() == effects["ratio"].to_list()
    assert view.select("elpd_difference", "se_difference").row(0) == (0, 0)
    assert view["elpd_loo"].item() == pytest.approx(found.bayes["pointwise"]["elpd"].sum())
    assert found.bayes["contrasts"].is_empty()
    assert found.bayes["predictions"]["condition"].to_list() == ["compatible", "incompatible"]


@pytest.mark.needs("brms")
def test_another_family_is_another_fit_and_is_compared(db: Path, found: FitResult, study: Study) -> None:
    other = analysis.fit(db, "rmiat", "brms", settings={**QUICK, "seed": 2}, only=ONE)
    assert other.bayes["effects"]["ratio"].to_list() != found.bayes["effects"]["ratio"].to_list()
    rows = analysis.tables(db, "rmiat", ["bayes_ratios"])["bayes_ratios"]
    assert abs(rows["elpd_difference"].to_list()[0]) < 5
    assert rows["elpd_difference"].to_list()[1] == 0  # the last lognormal
    assert fits_to_show(db, study).height == 1


def test_a_family_that_is_none_names_those_there_are(db: Path) -> None:
    wrong = run_analyze("--fit", "brms", "--study", "rmiat", "--db", db, "--family", "poisson")
    assert (wrong.exit_code, "lognormal" in wrong.stderr) == (2, True)


@pytest.mark.needs("brms")
def test_the_page_of_checks_says_what_is_predicted_and_what_is_doubtful(
    db: Path, found: FitResult, study: Study
) -> None:
    rows = kept_count_models(db, study, None)
    assert rows.select("n_compared").row(0) == (12,)  # six statistics of two conditions
    said = finding(rows)
    assert said.standing == "caution"
    assert "The proportion of zeros is as a lognormal predicts it in 1 of 1 cell" in said.sentence
    assert any(text.startswith("Caution, chains: o3-mini (flowers_insects)") for text in said.details)
    ((_, page),) = findings(check(db, "rmiat"))
    assert next(one for one in page if one.check == "counts").verdict == said.sentence


def test_a_family_that_is_clearly_better_is_said_with_its_difference() -> None:
    usual = {
        "source": "simulated", "study_version": "v1", "variant": "base", "model": "m", "test": "t", "ratio": 1.5,
        "ratio_low": 1.2, "ratio_high": 1.9, "zeros_reference": 0.3, "zeros_reference_predicted": 0.1,
        "zeros_other": 0.0, "zeros_other_predicted": 0.0, "n_bad_pareto_k": 0, "is_converged": True, "n_compared": 12,
        "n_outside": 2, "n_zeros_outside": 1, "p_within_bound": 0.97, "bound": 0.1, "prior": "normal(0, 1)",
    }  # fmt: skip
    families = {"lognormal": 0.0, "gaussian": -30.0, "hurdle_lognormal": 12.0}
    rows = pl.DataFrame(
        [{**usual, "family": name, "elpd_difference": by, "se_difference": 4.0} for name, by in families.items()]
    )
    said = finding(rows)
    assert said.standing == "caution"
    assert "another family is clearly better in 1 of 2 comparisons" in said.sentence
    assert any("Better than the lognormal: hurdle lognormal for m, t, by 12.0" in text for text in said.details)
    assert any("smaller than |d| = 0.1 (of log counts; prior of the effect: normal" in text for text in said.details)
    assert any("30.0 % observed in Compatible, 10.0 % predicted" in text for text in said.details)
    fine = rows.filter(family="lognormal").with_columns(n_zeros_outside=0)
    assert finding(fine).standing == "not found"


@pytest.mark.needs("brms")
def test_the_report_sets_ratios_beside_the_studys_own_number(db: Path, found: FitResult, study: Study) -> None:
    analysis.fit(db, "rmiat", "crossed")
    own = analysis.fit(db, "rmiat", "lme4", only=ONE).table.filter(pl.col("term") != "intercept")["estimate"].item()
    tables = analysis.tables(db, "rmiat", ["bayes_ratios", "effects_over_words"])
    grain = tables["bayes_ratios"].select("source", "study_version", "variant").to_dicts()[0]
    group = ratios(SectionData(study, tables, {}, grain))
    assert group is not None
    cells = [str(cell) for row in group.tables[0].table["rows"] for cell in row]
    assert any(f"{own:.1f}" in cell for cell in cells)
    assert ratios(SectionData(study, {}, {}, grain)) is None


@pytest.mark.needs("brms")
def test_the_figure_of_predictive_checks_shows_the_zeros(db: Path, found: FitResult) -> None:
    (figure,) = figure_rows(db, load_study("rmiat"), ["predictive_checks"])
    assert figure.rows["statistic"].unique().to_list() == ["zeros"]
    assert figure.rows["condition"].to_list() == ["compatible", "incompatible"]


def test_the_figure_of_families_shows_those_beside_the_lognormal(tmp_path: Path) -> None:
    case = TESTS / "sql" / "bayes_ratios"
    db = small_database(tmp_path / "a.duckdb", source="imported")
    with writing(db) as connection:
        for table in ("brms_effects", "brms_loo", "brms_models", "brms_pointwise", "calls", "fit_cells"):
            fill(connection, table, read_rows(case / f"{table}.csv"))
    (figure,) = figure_rows(db, load_study("rmiat"), ["family_differences"])
    shown = figure.rows.select("model", "test", "family", "elpd_difference", "se_difference", "n")
    assert shown.with_columns(pl.col("se_difference").round(6)).rows() == [
        ("o3-mini", "young_old", "gaussian", -3.0, 1.5, 3)
    ]
