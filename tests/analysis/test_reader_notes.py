"""Readers' notes next to their trials, as `analyze tables coded_trials` prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant.analysis.cli.tables import coded_trials
from slant.collector.errors import UsageError
from tests.support.commands import run_analyze
from tests.support.given import database


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return database(tmp_path / "a.duckdb", [{"item": item} for item in ("aster", "rose", "wasp")])


def notes(folder: Path, reader: str, *lines: str) -> Path:
    path = folder / f"{reader}.csv"
    path.write_text("\n".join(["trial_id,label,note", *lines, ""]), encoding="utf-8")
    return path


def test_each_reader_has_a_row_for_each_noted_trial_with_the_trial_beside_it(db: Path, tmp_path: Path) -> None:
    files = [notes(tmp_path, "ben", "t3,odd,", "gone,odd,x"), notes(tmp_path, "anna", 't2,plain,"a, b"', "t1,odd,")]
    coded = coded_trials(db, files)
    assert coded.select("reader", "trial_id", "item", "label", "note").rows() == [
        ("ben", "t3", "wasp", "odd", None),
        ("anna", "t1", "aster", "odd", None), ("anna", "t2", "rose", "plain", "a, b"),
    ]  # fmt: skip
    assert coded_trials(db, files, study="hiring").is_empty()


def test_the_command_prints_them_and_says_what_it_needs(db: Path, tmp_path: Path) -> None:
    file = notes(tmp_path, "anna", "t1,odd,why")
    words = ["tables", "coded_trials", "--db", str(db), "--format", "csv"]
    printed = run_analyze(*words, "--notes", file)
    assert (printed.exit_code, printed.stdout.count("\n")) == (0, 2)
    assert "--notes FILE" in run_analyze(*words).stderr


def test_files_that_are_no_notes_are_refused(db: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("trial,mark\n1,2\n", encoding="utf-8")
    for files in ([], [tmp_path / "nowhere.csv"], [other], [other, other]):
        with pytest.raises(UsageError):
            coded_trials(db, files)
