"""Rows of other people's files: their names, numbers, letters and missing answers, brought in as they were meant."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.importing.imports import ImportReport
from slant.collector.importing.layouts.values import matching_name, moment
from tests.support.each_row import each_row
from tests.support.raw_rows import tidy, trials, write_csv
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

DRINKS = {"model": "small", "test": "tea_coffee", "condition": "compatible", "item": "oolong", "wording": 1}


def bring(folder: Path, text: str, **options: object) -> object:
    (folder / "rows.csv").write_text(text, encoding="utf-8")
    return import_trials(folder / "t.duckdb", "rmiat", [folder / "rows.csv"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("said", ["pro-tea", "PRO-TEA", "pro.tea", "pro tea"])
def test_a_name_is_found_as_r_and_people_spell_it(said: str) -> None:
    assert matching_name(said, ["anti.tea", "pro-tea"]) == "pro-tea"


def test_a_name_that_may_be_two_is_none() -> None:
    assert matching_name("rose", ["ROSE", "Rose"]) is None
    assert matching_name("Rose", ["ROSE", "Rose"]) == "Rose"


@pytest.mark.slow
def test_a_missing_answer_is_no_refusal_and_no_row(tmp_path: Path) -> None:
    rows = [tidy(item=item, answer=answer) for item, answer in (("aster", "NA"), ("rose", ""), ("poppy", "Pleasant"))]
    report = import_trials(tmp_path / "t.duckdb", "rmiat", [write_csv(tmp_path / "rows.csv", rows)])
    assert (report.rows_imported, report.rows_without_answer, report.problems) == (1, 2, [])
    assert "2 rows have no answer (an empty cell or NA): missing" in report.warnings[-1]


@pytest.mark.slow
def test_an_answer_that_was_cut_off_needs_no_text(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "rows.csv", [tidy(answer="", outcome="truncated")])
    assert import_trials(tmp_path / "t.duckdb", "rmiat", [file]).rows_without_answer == 0
    assert trials(tmp_path)[0]["outcome"] == "truncated"


@pytest.mark.slow
def test_wordings_and_repetitions_from_zero_are_taken_one_up(tmp_path: Path) -> None:
    rows = [tidy(wording=number, repetition=number % 2, tokens=number) for number in range(20)]
    report = import_trials(tmp_path / "t.duckdb", "rmiat", [write_csv(tmp_path / "rows.csv", rows)])
    assert {row["wording"]: row["tokens"] for row in trials(tmp_path)} == {number + 1: number for number in range(20)}
    assert [warning.split(" is")[0] for warning in report.warnings[:2]] == ["repetition", "wording"]


def test_words_are_the_same_however_unicode_writes_their_letters(tmp_path: Path) -> None:
    study = write_tiny(tmp_path, stimuli=("oolong", "thé"))
    row = DRINKS | {"item": unicodedata.normalize("NFD", "thé"), "answer": "Calm", "tokens": 9}
    report = import_trials(tmp_path / "t.duckdb", str(study), [write_csv(tmp_path / "rows.csv", [row])])
    assert (report.problems, trials(tmp_path)[0]["item"]) == ([], "thé")


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "count"), [("70.0", 70), ('"""70"""', None), ('"70"', 70), ("7e1", 70)])
def test_counts_may_be_written_as_tools_write_them(tmp_path: Path, typed: str, count: int | None) -> None:
    names = ",".join(tidy())
    cells = ",".join(typed if name == "tokens" else f'"{value}"' for name, value in tidy().items())
    report = bring(tmp_path, f"{names}\n{cells}\n")
    assert [row["tokens"] for row in trials(tmp_path)] == [count] if count else report.problems  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_number_that_can_be_read_two_ways_asks_for_the_decimal_mark(tmp_path: Path) -> None:
    row = tidy(tokens="1.000")
    text = ";".join(row) + "\n" + ";".join(f'"{value}"' for value in row.values()) + "\n"
    report = bring(tmp_path, text)
    assert "--decimal ," in report.problems[0].text  # type: ignore[attr-defined]
    bring(tmp_path, text, decimal=",")
    assert [row["tokens"] for row in trials(tmp_path)] == [1000]


def test_the_decimal_mark_is_a_point_or_a_comma(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="decimal mark"):
        bring(tmp_path, "a,b\n1,2\n", decimal="x")


@pytest.mark.slow
def test_a_row_of_many_answers_becomes_as_many_trials(tmp_path: Path) -> None:
    text = "model,test,wording,item,answer_compatible,answer_incompatible,n_compatible,n_incompatible\n"
    text += "deepseek-r1,flowers_insects,2,aster,Pleasant,Unpleasant,10,20\n"
    bring(tmp_path, text, columns=["condition:answer=answer_*,condition:tokens=n_*"])
    found = {row["condition"]: (row["answer"], row["tokens"]) for row in trials(tmp_path)}
    assert found == {"compatible": ("Pleasant", 10), "incompatible": ("Unpleasant", 20)}


def test_equal_answers_of_a_scale_are_no_copies(tmp_path: Path) -> None:
    study = write_tiny(tmp_path)
    rows = [DRINKS | {"answer": "Calm", "tokens": ""} for _ in range(3)]
    report = import_trials(tmp_path / "t.duckdb", str(study), [write_csv(tmp_path / "rows.csv", rows)])
    assert not any("copies" in warning or "copy" in warning for warning in report.warnings)
    assert report.rows_imported == 3


@each_row(
    ("said", "kept"),
    [
        ("2026-05-01T14:30:00Z", "2026-05-01T14:30:00.000000"),
        ("2026-05-01 16:30:00+02:00", "2026-05-01T14:30:00.000000"),
        ("2026-05-01 14:30:00", "2026-05-01T14:30:00.000000"), (1777645800, "2026-05-01T14:30:00.000000"),
        ("1777645800250", "2026-05-01T14:30:00.250000"), ("", None),
    ],
)  # fmt: skip
def test_a_time_of_an_answer_is_utc_however_it_is_written(said: object, kept: str | None) -> None:
    assert moment(said, "answered_at") == kept


def test_when_it_was_answered_may_be_named_and_is_of_the_row_alone(tmp_path: Path) -> None:
    rows = [tidy(item=item, tokens=7) | {"when": f"2026-05-01T14:3{n}Z"} for n, item in enumerate(("aster", "aster"))]
    rows.append(tidy(item="aster", tokens=7) | {"when": ""})
    rows.append(tidy(item="aster", tokens=7) | {"when": "noon"})
    file = write_csv(tmp_path / "rows.csv", rows)
    report = import_trials(tmp_path / "t.duckdb", "rmiat", [file], columns=["answered_at=when"])
    times = rows_in(tmp_path / "t.duckdb", "SELECT CAST(done_at AS VARCHAR) FROM attempts ORDER BY sequence")
    assert [time and time[:16] for (time,) in times] == ["2026-05-01 14:30", "2026-05-01 14:31", None]
    assert ["answered_at must be a time" in problem.text for problem in report.problems] == [True]


STUDY = """\
name = "s"
title = "s"
design = "factorial"
seed = 1
factors.g = ["a", "b"]
templates.plain = "Say. {{g}}"
[questions.answer]
text = "Answer."
{}
[[models]]
model = "m"
provider = "local"
"""


def imported(
    folder: Path, asked: str, rows: str, name: str, decimal: str | None = None
) -> tuple[list[str], ImportReport]:
    """The numbers that are read in a file's answers, sorted, and the report."""
    folder.mkdir()
    (folder / "s.toml").write_text(STUDY.format(asked))
    (folder / name).write_text(rows)
    report = import_trials(folder / "x.duckdb", str(folder / "s.toml"), [folder / name], "m", decimal=decimal)
    read = rows_in(folder / "x.duckdb", "SELECT coalesce(choice, outcome) FROM trials")
    return sorted(str(value) for (value,) in read), report


def test_three_decimals_are_read_where_something_settles_their_mark(tmp_path: Path) -> None:
    rows = "g,answer\na,85.816\nb,3.142\n"
    as_json = json.dumps([{"g": "a", "answer": 85.816}, {"g": "b", "answer": 3.142}])
    number, read = 'kind = "number"', ["3.142", "85.816"]
    assert imported(tmp_path / "range", f"{number}\nmin = 0\nmax = 100", rows, "r.csv")[0] == read
    assert imported(tmp_path / "others", number, f"{rows}a,84.28\n", "r.csv")[0] == ["3.142", "84.28", "85.816"]
    assert imported(tmp_path / "said", number, rows, "r.csv", ".")[0] == read
    assert imported(tmp_path / "json", number, as_json, "r.json")[0] == read
    assert imported(tmp_path / "key", f'{number}\ndecimal = ","', rows, "r.csv")[0] == ["3142", "85816"]
    unread, report = imported(tmp_path / "open", number, rows, "r.csv")
    assert (unread, "--decimal" in str(report.warnings)) == (["malformed"] * 2, True)


@pytest.mark.slow
def test_what_a_program_wrote_of_a_failed_request_is_no_answer(tmp_path: Path) -> None:
    failed = "g,answer\na,yes\nb,[ERROR] API error\na,Error code: 429 - {}\n"
    for kind in ("yes_no", "text"):
        read, report = imported(tmp_path / kind, f'kind = "{kind}"', failed, "r.csv")
        assert (read, len(report.problems)) == (["yes"], 2)
        assert "is a request that failed" in report.problems[0].text
