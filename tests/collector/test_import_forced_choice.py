"""Answers to the forced choice that somebody else collected: in, out, and in again, with the sides of the options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from slant.collector import export_trials, import_trials
from slant.collector.errors import UsageError
from slant.collector.importing.writer import ImportReport
from slant.collector.keep.frames import frame_of
from tests.support.raw_rows import write_csv

ROW = {
    "model": "gpt-5", "test": "gender_career", "condition": "incongruent", "item": "John",
    "option_a": "Male + Family", "option_b": "Female + Career", "answer": '{"answer": "A"}',
}  # fmt: skip
SIDES = ("condition", "option_a", "option_b", "expected", "choice", "outcome", "detail", "factors")


def bring_in(folder: Path, *rows: dict[str, Any]) -> tuple[ImportReport, pl.DataFrame]:
    report = import_trials(folder / "t.duckdb", "interference", [write_csv(folder / "rows.csv", rows)])
    if report.run_id is None:
        return report, pl.DataFrame()
    with duckdb.connect(str(folder / "t.duckdb"), read_only=True) as connection:
        return report, frame_of(connection.view("trials").order("sequence")).select(SIDES)


def test_a_row_without_tokens_and_wording_is_enough(tmp_path: Path) -> None:
    report, found = bring_in(tmp_path, ROW | {"condition": "stereotype-inconsistent"})
    [row] = found.to_dicts()
    assert (report.rows_imported, report.problems, report.warnings) == (1, [], [])
    assert (row["choice"], row["expected"], row["outcome"]) == ("Male + Family", "Male + Family", "answered")
    assert (row["condition"], json.loads(row["factors"])["consistent_letter"]) == ("incongruent", "A")


def test_the_letter_of_the_consistent_option_does_as_well_as_the_texts(tmp_path: Path) -> None:
    row = {name: value for name, value in ROW.items() if not name.startswith("option")} | {"consistent_letter": "B"}
    _, found = bring_in(tmp_path, row)
    assert found.select("option_a", "option_b", "choice").row(0) == (
        "Female + Career",
        "Male + Family",
        "Female + Career",
    )


WRONG = [
    ({"option_a": "", "option_b": ""}, "which option was A is not said"),
    ({"option_a": "Female + Career", "option_b": "Female + Career"}, "expected can't be"),
    ({"option_a": "Male + Career"}, 'with "Male + Family" expected can\'t be'),
    ({"consistent_letter": "B"}, "consistent_letter is B, but by its options it is A"),
    ({"consistent_letter": "C"}, 'must be A or B, but is "C"'),
    ({"position_in_block": "first"}, 'position_in_block must be a whole number, but is "first"'),
    ({"condition": "neutral"}, "condition must be one of congruent, incongruent"),
    ({"test": "gender_math"}, "test must be one of gender_career, gender_science"),
    ({"item": "dragon", "group": "Beasts"}, "doesn't know the word, and the group"),
    ({"wording": "2"}, "wording must be one of the study's 1"),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG)
def test_a_row_that_cannot_be_coded_is_reported_and_not_taken(
    tmp_path: Path, change: dict[str, str], sentence: str
) -> None:
    report, _ = bring_in(tmp_path, ROW | change)
    assert report.rows_imported == 0
    assert sentence in str(report.problems[0])


def test_a_file_without_what_is_needed_is_refused_as_a_whole(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"lacks the columns test, condition\."):
        bring_in(tmp_path, {"model": "gpt-5", "item": "John", "answer": "A"})


def test_invalid_answers_keep_their_kind(tmp_path: Path) -> None:
    answers = ['{"answer": "A or B"}', "I can't do that.", '{"answer": "A"', "", "B"]
    rows = [
        ROW | {"item": word, "answer": answer}
        for word, answer in zip(["John", "Paul", "Mike", "Amy", "Joan"], answers, strict=True)
    ]
    rows[3] |= {"option_a": "Male + Family", "option_b": "Female + Career"}
    report, found = bring_in(tmp_path, *rows)
    kinds = found["detail"].str.split(":").list.first().to_list()
    assert kinds == ["both_letters", "refused_in_words", "json_broken", None]
    assert (report.refusals_by_test["gpt-5", "gender_career"], report.only_labels) == (3, False)
    assert report.rows_without_answer == 1


def test_enforced_and_free_answers_of_a_cell_are_two_trials(tmp_path: Path) -> None:
    rows = [ROW | {"repetition": 1, "structured_output": flag} for flag in ("true", "false", "")]
    report, found = bring_in(tmp_path, *rows)
    assert (report.rows_imported, report.rows_already_there) == (2, 1)
    assert [json.loads(factors)["structured_output"] for factors in found["factors"]] == [True, False]


def test_without_a_view_the_studys_own_trials_are_exported(tmp_path: Path) -> None:
    bring_in(tmp_path, ROW)
    export_trials(tmp_path / "t.duckdb", out=tmp_path / "out.csv")
    assert {"domain", "block", "is_valid"} <= set(pl.read_csv(tmp_path / "out.csv").columns)
