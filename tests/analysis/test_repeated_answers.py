"""A file in which each answer stands five times, as temperature 0 gives them, on its whole way: import, fits, power."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from slant import analysis
from slant.collector import import_trials
from tests.support.commands import run_analyze
from tests.support.raw_rows import tidy, write_csv
from tests.support.stored import rows_in

pytestmark = pytest.mark.slow

WORDS = ("aster", "tulip", "rose", "wasp", "ant", "moth")


def imported(folder: Path, repetitions: int) -> Path:
    chance = random.Random(3)
    once = [
        tidy(item=item, wording=wording, condition=condition, tokens=round(chance.gauss(300 + shift, 60)))
        for condition, shift in (("compatible", 0), ("incompatible", 25))
        for wording in range(1, 9)
        for item in WORDS
    ]
    rows = [{**row, "repetition": number} for number in range(1, repetitions + 1) for row in once]
    report = import_trials(folder / "t.duckdb", "rmiat", [write_csv(folder / "rows.csv", rows)])
    assert report.rows_imported == 96 * repetitions
    return folder / "t.duckdb"


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory.mktemp("five"), 5)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory.mktemp("once"), 1)


def effect(db: Path) -> dict[str, float]:
    (row,) = analysis.fit(db, "rmiat", "crossed").tables["crossed"]["effects"].to_dicts()
    return row


def test_the_model_over_words_counts_the_same_answer_once(five: Path, once: Path) -> None:
    assert effect(five)["std_error"] == pytest.approx(effect(once)["std_error"], rel=1e-6)
    said = analysis.fit(five, "rmiat", "crossed").diagnostics["messages"][0]
    assert "are the same answer: 480 rows count as 96 answers." in said


def test_the_studys_own_model_counts_it_five_times_and_says_so(five: Path) -> None:
    result = run_analyze("--fit", "lme4", "--study", "rmiat", "--format", "csv", "--db", five)
    assert result.exit_code == 0, result.stderr
    assert "480 rows hold 96 answers." in result.stderr
    assert rows_in(five, "SELECT DISTINCT status FROM fits WHERE engine = 'lme4'") == [("warned",)]


def test_the_check_counts_them_by_temperature(five: Path) -> None:
    rows = analysis.check(five, "rmiat").rows["repetitions"]
    assert rows.select("n", "n_repeated", "n_identical", "n_effective").row(0) == (480, 96, 96, 96)


def test_a_plan_from_one_answer_each_is_a_range_and_from_five_it_knows(five: Path, once: Path) -> None:
    numbers = {"n_words": [6], "n_wordings": [8], "n_repetitions": [5]}
    (guess,) = analysis.plan_power("rmiat", once, **numbers).table.to_dicts()
    (known,) = analysis.plan_power("rmiat", five, **numbers).table.to_dicts()
    assert guess["std_error"] < 0.95 * guess["std_error_most"]
    assert known["std_error"] == pytest.approx(guess["std_error_most"])
    assert effect(five)["std_error"] == pytest.approx(known["std_error"], rel=0.15)
