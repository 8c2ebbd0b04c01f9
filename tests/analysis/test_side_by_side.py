"""`analyze compare --with`: two data sets of one study side by side."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant.analysis.archive.sealing import seal
from slant.analysis.archive.study_copy import database_of
from slant.analysis.fitting.fits import fit
from slant.analysis.paper.own_print import compare_print
from slant.analysis.questions.side_by_side import changeable, side_by_side, with_changes
from slant.collector.errors import DatabaseError, UsageError
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import database
from tests.support.own_studies import collected


@pytest.mark.slow
def test_the_same_answers_give_the_same_and_others_differ(tmp_path: Path) -> None:
    here = small_database(tmp_path / "a.duckdb")
    again = small_database(tmp_path / "b.duckdb")
    same = side_by_side(here, again, fits=["effect_size", "lme4"])
    assert set(same.estimates["status"]) == {"same"}
    assert same.counts["answered"].equals(same.counts["answered_there"])
    longer = [{**row, "tokens": row["tokens"] + (400 if row["condition"] == "incompatible" else 0)} for row in trials()]
    other = side_by_side(here, database(tmp_path / "c.duckdb", longer, [RUN]), fits=["lme4"])
    effects = other.estimates.filter(term="conditionincompatible")
    assert set(effects["status"]) == {"differs"}
    assert effects["difference"].to_list() == pytest.approx([400.0] * effects.height, abs=1e-4)


@pytest.mark.slow
def test_a_cell_of_one_side_alone_is_named(tmp_path: Path) -> None:
    here = small_database(tmp_path / "a.duckdb")
    fewer = [row for row in trials() if row["model"] == "o3-mini"]
    found = side_by_side(here, database(tmp_path / "b.duckdb", fewer, [RUN]), fits=["effect_size"]).estimates
    assert dict(found.select("model", "status").iter_rows()) == {"o3-mini": "same", "deepseek-r1": "only here"}


def test_one_database_twice_and_another_study_are_told(tmp_path: Path) -> None:
    here = small_database(tmp_path / "a.duckdb")
    with pytest.raises(UsageError, match="the same database"):
        side_by_side(here, here)
    rows = [{**row, "study": "another"} for row in trials()]
    with pytest.raises(DatabaseError, match='no answers of "rmiat"'):
        side_by_side(here, database(tmp_path / "b.duckdb", rows, [{**RUN, "study": "another"}]))


def test_a_printed_table_of_ones_own_is_compared_digit_by_digit(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    table = fit(db, "rmiat", "effect_size").table
    keys = ["fit", "model", "test", "refusals_removed", "term"]
    text = table.select(pl.col(keys).cast(pl.String), pl.col("estimate", "std_error").round(3).cast(pl.String))
    text.write_csv(tmp_path / "t.csv")
    assert set(compare_print(db, tmp_path / "t.csv")["status"]) == {"agrees"}
    text[:1].with_columns(estimate=pl.lit("9.99")).write_csv(tmp_path / "t.csv")
    assert compare_print(db, tmp_path / "t.csv")["status"].to_list() == ["disagrees", "agrees"]
    for columns, said in ((["fit", "term", "estimate"], "is true of several"), (["estimate"], "its columns are")):
        text.select(columns).write_csv(tmp_path / "t.csv")
        with pytest.raises(UsageError, match=said):
            compare_print(db, tmp_path / "t.csv")
    text.with_columns(estimate=pl.lit("=1+1")).write_csv(tmp_path / "t.csv")
    with pytest.raises(UsageError, match="is no number"):
        compare_print(db, tmp_path / "t.csv")


@pytest.mark.slow
def test_an_archive_stands_beside_its_database(tmp_path: Path) -> None:
    collected("drinks", tmp_path, tmp_path / "a.duckdb")
    archive = seal(tmp_path / "a.duckdb", out=tmp_path / "a.zip", with_r=False).path
    with database_of(archive) as sealed:
        found = side_by_side(tmp_path / "a.duckdb", sealed, fits=["effect_size"])
    assert set(found.estimates["status"]) == {"same"}
    assert found.counts["answered"].sum() > 0


@pytest.mark.slow
def test_one_choice_changed_stands_beside_the_fit_as_it_was(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    study = load_study("rmiat")
    changed, names = with_changes(study, ["lme4.formula=tokens ~ condition + (1 | item)", "lme4.drop_flags=[]"])
    assert names == ("lme4",)
    assert (changed.fits["lme4"].formula, changed.fits["lme4"].drop_flags) == ("tokens ~ condition + (1 | item)", ())
    found = side_by_side(db, db, study, names, changed=changed).estimates
    assert found.height
    assert set(found["fit"]) == {"lme4"}
    assert not found["std_error"].equals(found["std_error_there"])


@pytest.mark.parametrize("change", ["lme4.formula", "formula=a", "lme.formula=a", "lme4.frmula=a", "lme4.formula=3"])
def test_what_is_no_change_is_told(change: str) -> None:
    with pytest.raises(UsageError):
        with_changes(load_study("rmiat"), [change])


def test_what_help_lists_can_be_changed() -> None:
    study = load_study("rmiat")
    for change, now in changeable(study).iter_rows():
        changed, _ = with_changes(study, [f"{change}={now}"])
        assert changed.fits.keys() >= {change.partition(".")[0]}, change


@pytest.mark.slow
def test_a_changed_formula_with_an_unknown_column_names_the_nearest_one(tmp_path: Path) -> None:
    collected("drinks", tmp_path, tmp_path / "a.duckdb")
    archive = seal(tmp_path / "a.duckdb", out=tmp_path / "a.zip", with_r=False).path
    change = "lme4.formula=tokens ~ conditon + (1 | item)"
    told = run_analyze("replay", archive, "--change", change)
    assert told.exit_code == 2
    assert 'has no column "conditon". Did you mean "condition"?' in told.stderr
