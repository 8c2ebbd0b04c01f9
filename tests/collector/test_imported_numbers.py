"""Numbers in files: their mark is settled by a range, by other answers, by a person or by JSON; failed requests."""

import json
from pathlib import Path

import pytest

from slant.collector.importing.imports import ImportReport, import_trials
from tests.support.stored import rows_in

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
