"""Effects over words and wordings: from the shell, in the database, in the report, and what the authors' data give."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import polars as pl
import pytest

from slant import analysis
from slant.analysis.pages.report_comparison import with_words
from slant.collector.studies.catalogue import fits_of, load_study
from tests.support.authors import Authors
from tests.support.commands import run_analyze
from tests.support.fitted import small_database

WORDS = "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("crossed") / "a.duckdb")


@pytest.fixture(scope="module")
def found(db: Path) -> analysis.FitResult:
    return analysis.fit(db, "rmiat", "crossed")


def test_every_association_study_has_the_fit_without_naming_it() -> None:
    study = load_study("rmiat")
    assert "crossed" not in study.fits
    assert fits_of(study)["crossed"].formula == WORDS
    assert fits_of(study)["crossed"].settings == {"reference_model": study.fits["lme4"].formula}
    assert "crossed" not in fits_of(load_study("interference"))


@pytest.mark.slow
def test_effects_stand_beside_the_studys_own(found: analysis.FitResult, db: Path) -> None:
    own = analysis.fit(db, "rmiat", "lme4").table.filter(pl.col("term") == "conditionincompatible")
    effects = found.tables["crossed"]["effects"]
    # The study's own stops where lme4 does, as printed; this one goes on to the optimum.
    assert effects["reference_p"].to_list() == pytest.approx(own["p_value"].to_list(), rel=1e-3)
    assert effects["reference_std_error"].to_list() == pytest.approx(own["std_error"].to_list(), rel=1e-4)
    assert (effects["mde"] / effects["sd"]).to_list() == pytest.approx(effects["mde_d"].to_list())
    assert set(effects["verdict"]) <= {"stays", "lost", "gained", "not_significant"}


def test_the_view_has_what_the_fit_has_and_shares_that_add_up(found: analysis.FitResult, db: Path) -> None:
    view = analysis.tables(db, "rmiat", ["effects_over_words"])["effects_over_words"]
    assert view["mde"].to_list() == found.tables["crossed"]["effects"]["mde"].to_list()
    shares = view.select(pl.sum_horizontal("share_words", "share_wordings", "share_trials")).to_series().to_list()
    assert shares == pytest.approx([1.0] * len(shares))


def test_the_shell_prints_effects_and_shares(found: analysis.FitResult, db: Path) -> None:
    for show, column in (("effects", "mde_d"), ("shares", "share")):
        words = ["--fit", "crossed", "--study", "rmiat", "--show", show, "--format", "csv", "--db", str(db)]
        result = run_analyze(*words)
        assert result.exit_code == 0, result.output
        assert column in result.stdout.splitlines()[0].split(",")


def test_a_row_of_the_report_has_the_papers_number_first_and_the_rest_behind_it(found: analysis.FitResult) -> None:
    effects = found.tables["crossed"]["effects"]
    cell = effects.select("source", "study_version", "variant", "model", "test", "refusals_removed")
    texts = {"quantity": "condition_std_error", "printed": "2.65", "slip": None, "status": "agrees"}
    said = {name: pl.lit(text, pl.String) for name, text in texts.items()}
    compared = cell.with_columns(**said, recomputed=2.65)
    rows = with_words(compared, effects)
    assert rows["quantity"].to_list()[:2] == ["condition_std_error"] * 2
    assert set(rows["quantity"][2:]) == {"std_error_ratio", "mde", "mde_d", "verdict"}
    assert rows.filter(pl.col("quantity") == "mde")["recomputed"].to_list() == effects["mde"].to_list()
    assert rows.filter(pl.col("quantity") == "mde")["printed"].null_count() == 2


@pytest.mark.slow
def test_of_the_authors_35_significant_effects_33_stay(authors: Authors, tmp_path: Path) -> None:
    """Refusals kept; without them 34 are significant, and a third is lost."""
    db = tmp_path / "a.duckdb"
    db.write_bytes(authors.db.read_bytes())
    two = [("claude-3.7-sonnet", "disease_permanence"), ("claude-3.7-sonnet", "age_valence")]
    for removed, significant, gone in ((False, 35, two), (True, 34, [*two, ("gpt-oss-20b", "race_greenwald")])):
        effects = analysis.fit(db, "rmiat", "crossed", refusals_removed=removed).tables["crossed"]["effects"]
        lost = effects.filter(pl.col("verdict") == "lost")
        assert lost.select("model", "test").rows() == gone
        assert effects.filter(pl.col("reference_p") < 0.05).height == significant
        assert effects.filter(pl.col("verdict") == "stays").height == significant - len(gone)
        medians = [median(part["std_error_ratio"]) for _, part in effects.group_by("model")]
        assert min(medians) >= 1.1
        assert max(medians) < 1.4
        assert max(effects["std_error_ratio"]) == pytest.approx(2.1, abs=0.05)
        assert (effects.filter(pl.col("is_singular"))["left_out"] != "").all()
