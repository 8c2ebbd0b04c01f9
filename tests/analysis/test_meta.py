"""One number over tests and models: from Python, from the shell, on the page of checks; R's metafor has the numbers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.questions.checks.check_findings import findings
from slant.analysis.questions.checks.study_checks import check
from slant.collector.errors import DatabaseError, UsageError
from tests.support.choices_made import database_of_choices
from tests.support.commands import run_analyze
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import database

pytestmark = [pytest.mark.slow, pytest.mark.needs("metafor")]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("meta") / "a.duckdb", tests=("flowers_insects", "age_valence"))


@pytest.fixture(scope="module")
def found(db: Path) -> pl.DataFrame:
    return analysis.meta_analysis(db, "rmiat").table


def test_cells_are_the_effects_over_words_in_standard_deviations(found: pl.DataFrame, db: Path) -> None:
    effects = analysis.tables(db, "rmiat", ["effects_over_words"])["effects_over_words"]
    expected = {(row["model"], row["test"]): row["estimate"] / row["sd"] for row in effects.to_dicts()}
    cells = found.filter(row="cell")
    assert {(row["model"], row["test"]): row["estimate"] for row in cells.to_dicts()} == expected


def test_the_papers_effects_in_tokens_are_those_of_its_own_model(db: Path) -> None:
    own = analysis.fit(db, "rmiat", "lme4").table.filter(pl.col("term") == "conditionincompatible")
    cells = analysis.meta_analysis(db, "rmiat", effects="paper", unit="outcome").table.filter(row="cell")
    for name in ("estimate", "std_error"):  # the last digits depend on where in memory R has the rows
        assert cells[name].to_list() == pytest.approx(own[name].to_list(), rel=1e-8)


def test_log_ratios_are_of_the_means_over_words_and_know_no_tokenizer(db: Path) -> None:
    fit = analysis.fit(db, "rmiat", "crossed").table
    effect, mean = (fit.filter(pl.col("term").str.starts_with(name)) for name in ("condition", "intercept"))
    cells = analysis.meta_analysis(db, "rmiat", unit="log_ratio").table.filter(row="cell")
    ratio = (mean["estimate"] + effect["estimate"] / 2) / (mean["estimate"] - effect["estimate"] / 2)
    assert cells["estimate"].to_list() == pytest.approx(ratio.log().to_list())
    assert (cells["std_error"] > 0).all()
    with pytest.raises(UsageError, match="means over words and wordings"):
        analysis.meta_analysis(db, "rmiat", effects="paper", unit="log_ratio")


def test_the_shell_prints_what_python_has_and_draws_it(found: pl.DataFrame, db: Path, tmp_path: Path) -> None:
    figure = tmp_path / "forest.svg"
    words = ["meta", "--study", "rmiat", "--db", str(db), "--format", "csv", "--figure", str(figure)]
    result = run_analyze(*words)
    assert result.exit_code == 0, result.stderr
    printed = pl.read_csv(result.stdout.encode(), infer_schema_length=None)
    assert printed["estimate"].to_list() == pytest.approx(found["estimate"].to_list())
    assert "Forest plot of" in figure.read_text("utf-8")


def test_one_run_can_be_chosen_as_in_every_command_that_computes(db: Path) -> None:
    words = ["meta", "--study", "rmiat", "--db", str(db), "--format", "csv"]
    assert run_analyze(*words, "--run", "r1").stdout == run_analyze(*words).stdout
    other = run_analyze(*words, "--run", "1999")
    assert (other.exit_code, "There is no run" in other.stderr) == (2, True)


def test_the_page_of_checks_says_the_mean_and_what_to_expect(found: pl.DataFrame, db: Path) -> None:
    ((_, page),) = findings(check(db, "rmiat"))
    finding = next(finding for finding in page if finding.check == "meta")
    mean = found.filter(row="mean").to_dicts()[0]
    assert f"{mean['estimate']:.2f} standard deviations (95 % interval" in finding.verdict
    assert finding.details[0].startswith("To expect (95 % prediction intervals): a new test ")


def test_the_report_has_the_same_sentences(db: Path, tmp_path: Path) -> None:
    ((_, page),) = findings(check(db, "rmiat"))
    said = next(finding for finding in page if finding.check == "meta")
    report = analysis.report(db, "rmiat", tmp_path / "r.html").read_text("utf-8")
    assert all(sentence in report for sentence in (said.verdict, said.details[0]))


def test_effects_on_forced_choices_are_pooled_too(tmp_path: Path) -> None:
    choices = database_of_choices(tmp_path / "choices.duckdb", words=25)
    table = analysis.meta_analysis(choices, "interference", unit="outcome").table
    cells = table.filter(row="cell")
    observed = analysis.tables(choices, "interference", ["observed_delta_p"])["observed_delta_p"]
    expected = {(row["model"], row["test"]): -row["delta_p"] for row in observed.to_dicts()}
    for row in cells.to_dicts():
        assert row["estimate"] == pytest.approx(expected[row["model"], row["test"]], abs=0.05)
    assert {"mean", "new_test", "new_model", "new_cell"} <= set(table["row"])
    with pytest.raises(UsageError, match="covers all models and tests together"):
        analysis.meta_analysis(choices, "interference", effects="paper")


def test_fits_that_failed_are_no_effects_to_pool(tmp_path: Path) -> None:
    rows = [{**row, "tokens": 64} for row in trials(tests=("flowers_insects", "age_valence"))]
    alike = database(tmp_path / "a.duckdb", rows, [RUN])
    with pytest.raises(DatabaseError, match="there are 0 here"):
        analysis.meta_analysis(alike, "rmiat")


def test_what_can_not_be_pooled_is_said(db: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unit must be 'sd' or 'outcome' or 'log_ratio'"):
        analysis.meta_analysis(db, "rmiat", unit="inches")  # type: ignore[arg-type]
    with pytest.raises(DatabaseError, match="effects of 3 tests and models"):
        analysis.meta_analysis(small_database(tmp_path / "b.duckdb"), "rmiat")
