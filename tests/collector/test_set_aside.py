"""`collect set-aside`: a wrong run counts nowhere, the reason is kept, its trials are open again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from slant import analysis
from slant.analysis.rows.result_warnings import mixture_warnings
from slant.collector import collect, merge
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.keep import final_trials
from slant.collector.keep.database import reading
from slant.collector.keep.final_trials import set_aside
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.keep.lake import export_lake
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

REASON = "temperature 1 was meant"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    write_tiny(tmp_path)
    collect(tmp_path / "a.duckdb", tmp_path / "study.toml", ["simulated/small"])
    return tmp_path / "a.duckdb"


def counted(db: Path) -> tuple[int, int]:
    """Trials that count, and attempts that are kept."""
    with reading(db) as connection:
        (trials,) = connection.execute("SELECT count(*) FROM association_trials").fetchall()[0]
        (attempts,) = connection.execute("SELECT count(*) FROM attempts").fetchall()[0]
    return trials, attempts


def run_of(db: Path) -> str:
    return str(rows_in(db, "SELECT run_id FROM runs ORDER BY started_at")[0][0])


def test_a_run_that_is_set_aside_counts_nowhere_and_is_asked_again(db: Path) -> None:
    n, n_kept = counted(db)
    assert set_aside(db, run_of(db), REASON) == n
    assert counted(db) == (0, n_kept)
    assert analysis.tables(db, names=["outcome_counts"])["outcome_counts"]["n_trials"].sum() == 0
    (said,) = (line for line in mixture_warnings(db) if line.startswith("Set aside"))
    assert REASON in said
    report = collect(db, db.parent / "study.toml", ["simulated/small"])
    assert report.models[0]["asked"] == n
    assert counted(db) == (n, 2 * n_kept)


@pytest.mark.slow
def test_the_reason_is_in_the_journal_and_can_be_taken_back(db: Path) -> None:
    n, _ = counted(db)
    set_aside(db, run_of(db), REASON)
    db.unlink()
    load_journals(db)  # made again from the journals alone
    assert counted(db)[0] == 0
    set_aside(db, run_of(db), "it was right", is_back=True)
    assert counted(db)[0] == n
    assert mixture_warnings(db) == []


def test_an_unknown_run_or_no_reason_is_told(db: Path) -> None:
    with pytest.raises(UnknownNameError, match="no run"):
        set_aside(db, "20260101T000000Z-x", REASON)
    with pytest.raises(UsageError, match="for a reason"):
        set_aside(db, run_of(db), " ")


@pytest.mark.slow
def test_what_is_asked_again_counts_once_after_all_else(db: Path, tmp_path: Path) -> None:
    """When the database is made again from its journals, when the run is taken back, and in a lake."""
    n, _ = counted(db)
    first = run_of(db)
    set_aside(db, first, REASON)
    collect(db, db.parent / "study.toml", ["simulated/small"])
    export_lake(db, tmp_path / "lake")
    assert counted(tmp_path / "lake")[0] == n
    db.unlink()
    load_journals(db)
    assert counted(db)[0] == n
    set_aside(db, first, "it was right", is_back=True)
    assert counted(db)[0] == n
    export_lake(db, tmp_path / "lake")
    assert counted(tmp_path / "lake")[0] == n
    assert any(REASON in line for line in mixture_warnings(tmp_path / "lake")) is False


@pytest.mark.slow
def test_notes_are_in_order_whatever_the_clock_says(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n, _ = counted(db)
    monkeypatch.setattr(final_trials, "utc_now", lambda: "2031-01-01T00:00:00.000000Z")
    set_aside(db, run_of(db), REASON)
    monkeypatch.undo()
    assert (set_aside(db, run_of(db), "it was right", is_back=True), counted(db)[0]) == (n, n)
    monkeypatch.setattr(final_trials, "utc_now", lambda: "2001-01-01T00:00:00.000000Z")
    assert (set_aside(db, run_of(db), REASON), counted(db)[0]) == (n, 0)


@pytest.mark.slow
def test_of_two_machines_at_once_the_one_that_sets_aside_wins_and_both_are_named(db: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(journal_folder(db), tmp_path / "b.duckdb.journal")).with_name("b.duckdb")
    for place in (db, other):
        set_aside(place, run_of(db), "first", is_back=False)
    set_aside(db, run_of(db), "was wrong after all")
    set_aside(other, run_of(db), "was right after all", is_back=True)
    report = merge(tmp_path / "all.duckdb", [db, other])
    assert counted(tmp_path / "all.duckdb")[0] == 0
    assert [run_of(db) in note and "is set aside" in note for note in report.notes] == [True]
    [(reason,)] = rows_in(tmp_path / "all.duckdb", "SELECT reason FROM aside_runs")
    assert "was wrong after all" in reason
    assert "was right after all" in reason
