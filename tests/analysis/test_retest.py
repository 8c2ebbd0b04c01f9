"""Is it the same tomorrow? Trials that were asked again: in Python, the shell, R, the page of checks, the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.archive.steps import steps_of
from slant.analysis.archive.study_copy import kept_call_ids
from slant.analysis.pages.parts.people import retests
from slant.analysis.pages.parts.records import SectionData
from slant.analysis.questions.checks.answer_findings import retest_finding
from slant.analysis.rows.views import view_rows
from slant.collector.api import collect
from slant.collector.errors import DatabaseError
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import Row, database
from tests.support.tiny_audit import audit

SALARY = """\
[questions.salary]
text = "What salary?"
kind = "number"

[[models]]"""
TESTS = ("flowers_insects", "age_valence")
GRAIN = {"source": "simulated", "study_version": "v1", "variant": "base"}


def with_occasions() -> Iterator[Row]:
    """The small database, with every fourth trial of o3-mini asked on two more days; on the third 30 tokens longer."""
    firsts = [{**row, "trial_id": f"f{number}"} for number, row in enumerate(trials(tests=TESTS))]
    yield from firsts
    for occasion, shift in ((2, 0), (3, 30)):
        for number, row in enumerate(firsts[3:160:4]):
            tokens = row["tokens"] + shift + (number * 7) % 41 - 20
            served = {"served_model": "o3-mini-2025-06-30", "done_at": f"2026-0{occasion}-01 10:00:00"}
            again = {"occasion": occasion, "first_trial_id": row["trial_id"], "run_id": f"r{occasion}"}
            yield {**row, **served, **again, "trial_id": f"o{occasion}-{number}", "tokens": tokens}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database(tmp_path_factory.mktemp("retest") / "a.duckdb", with_occasions(), [RUN])


@pytest.fixture(scope="module")
def found(db: Path) -> analysis.Retest:
    return analysis.retest(db, "rmiat")


@pytest.mark.slow
def test_each_occasion_has_all_tests_together_and_each_test(found: analysis.Retest) -> None:
    rows = found.table.select("occasion", "test", "n").rows()
    assert rows == [
        (2, None, 32), (2, "flowers_insects", 16), (2, "age_valence", 16),
        (3, None, 32), (3, "flowers_insects", 16), (3, "age_valence", 16),
    ]  # fmt: skip
    assert found.occasions["n_trials"].to_list() == [40, 40]


@pytest.mark.slow
def test_a_shift_that_was_put_in_comes_out(found: analysis.Retest) -> None:
    second, third = found.table.filter(pl.col("test").is_null()).to_dicts()
    assert third["shift"] - second["shift"] == pytest.approx(30)
    assert third["shift_low"] < third["shift"] < third["shift_high"]
    assert third["p_value"] < 0.001
    assert second["icc"] > 0.8 > 0.79 > third["icc"]


@pytest.mark.slow
def test_numbers_are_kept_and_shown_by_the_table(found: analysis.Retest, db: Path) -> None:
    kept = analysis.tables(db, "rmiat", ["retest_reliability"])["retest_reliability"]
    assert sorted(kept["icc"].to_list()) == sorted(found.table["icc"].to_list())
    assert len(kept_call_ids(db, "rmiat")) == 4  # what an archive takes along
    (step,) = (step for step in steps_of(db, load_study("rmiat"), []) if step.kind == "retest")
    assert step.frames(db, load_study("rmiat"), None, None)["table"].equals(found.table)


@pytest.mark.slow
def test_the_shell_prints_it_and_draws_it(found: analysis.Retest, db: Path, tmp_path: Path) -> None:
    figure = tmp_path / "retest.svg"
    words = ["retest", "--study", "rmiat", "--by", "test", "--db", str(db), "--format", "csv", "--figure", str(figure)]
    result = run_analyze(*words)
    assert result.exit_code == 0, result.stderr
    printed = pl.read_csv(result.stdout.encode())
    assert printed["shift"].to_list() == pytest.approx(found.table.drop_nulls("test")["shift"].to_list())
    assert "Agreement with the first occasion for 1 model and 2 occasions" in figure.read_text("utf-8")


@pytest.mark.slow
def test_the_report_has_a_section_that_grows_with_each_occasion(found: analysis.Retest, db: Path) -> None:
    tables = analysis.tables(db, "rmiat", ["retest_reliability", "retest_occasions"])
    group = retests(SectionData(load_study("rmiat"), tables, {}, GRAIN))
    assert group is not None
    assert [len(table.table["rows"]) for table in group.tables] == [2, 4, 2]
    without = retests(SectionData(load_study("rmiat"), {"retest_occasions": tables["retest_occasions"]}, {}, GRAIN))
    assert without is not None
    assert without.to_make[0].command == "analyze retest --study rmiat"
    assert retests(SectionData(load_study("rmiat"), {}, {}, GRAIN)) is None


@pytest.mark.slow
def test_the_page_of_checks_takes_a_shift_for_a_caution(found: analysis.Retest) -> None:
    finding = retest_finding(found.table, {"o3-mini": "o3"}, 0.05)
    assert finding.standing == "caution"
    assert finding.verdict.endswith("the mean shifted in o3 (occasion 3, tokens).")
    calm = retest_finding(found.table.filter(occasion=2), {}, 0.05)
    assert calm.standing == "not found"
    assert calm.details[0].startswith("o3-mini (occasion 2, tokens): 100.0 % of 40 answers equal")
    one_of_ten = pl.concat(
        found.table.filter(pl.col("test").is_null()).head(1).with_columns(p_value=p) for p in [0.04, *[0.5] * 9]
    )
    assert retest_finding(one_of_ten, {}, 0.05).standing == "not found"


def test_questions_in_different_units_are_never_pooled(tmp_path: Path) -> None:
    days = ('kind = "yes_no"', 'kind = "number"')
    asked = {"db": tmp_path / "a.duckdb", "study": audit(tmp_path, days, ("[[models]]", SALARY)), "simulated": True}
    collect(**asked)
    collect(**asked, again=12)
    rows = view_rows(asked["db"], "retest_answers")
    assert set(rows.select("test", "measure").rows()) == {(name, name) for name in ("rating", "hire", "salary")}


@pytest.mark.slow
def test_another_served_model_is_a_warning(tmp_path: Path, db: Path) -> None:
    first = {"trial_id": "f", "served_model": "o3-mini-2025-01-31", "done_at": "2026-01-01"}
    again = {"trial_id": "o", "served_model": "o3-mini-2025-06-30", "occasion": 2, "first_trial_id": "f"}
    result = analysis.retest(database(tmp_path / "a.duckdb", [first, {**again, "done_at": "2026-01-02"}], [RUN]))
    assert result.warnings == [
        "o3-mini, occasion 2: 1 of 1 trials were answered by another served model than the first time (then "
        "o3-mini-2025-01-31, now o3-mini-2025-06-30)."
    ]


def test_a_study_that_was_asked_once_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match='No trial of "rmiat" was repeated') as error:
        analysis.retest(small_database(tmp_path / "a.duckdb"))
    assert "--again 200" in str(error.value)
