"""Writing views as files for people without DuckDB."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant.collector import collect, export_trials, import_trials
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.keep.frames import as_given, safe_for_spreadsheets
from tests.support.commands import run_collect
from tests.support.raw_rows import table, tidy, write_csv
from tests.support.tiny_choice import write_choice

ANSWERS = {"aster": "Pleasant", "poppy": '=HYPERLINK("http://x")', "tulip": "@me", "rose": '-1\nand "more"', "lily": ""}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    outcomes = {answer: "" if answer else "malformed" for answer in ANSWERS.values()}  # none at all would be missing
    rows = [tidy(item=item, answer=answer, outcome=outcomes[answer]) for item, answer in ANSWERS.items()]
    import_trials(tmp_path / "t.duckdb", "rmiat", [write_csv(tmp_path / "rows.csv", rows)])
    return tmp_path / "t.duckdb"


def first_object(file: Path) -> dict[str, Any]:
    """The first line as it is written; Polars may order columns that start with nulls in another way."""
    found: dict[str, Any] = json.loads(file.read_text("utf-8").splitlines()[0])
    return found


@pytest.mark.slow
def test_all_formats_hold_the_same_rows(database: Path) -> None:
    files = [database.with_name(f"out.{ending}") for ending in ("parquet", "csv", "jsonl")]
    reports = [export_trials(database, out=file) for file in files]
    parquet, csv, lines = pl.read_parquet(files[0]), pl.read_csv(files[1]), pl.read_ndjson(files[2])
    assert [dict(report.sources) for report in reports] == [{"imported": 5}] * 3
    assert parquet["answer"].to_list() == lines["answer"].to_list() == csv["answer"].fill_null("").to_list()
    assert set(parquet["answer"]) == set(ANSWERS.values())
    assert parquet.columns == csv.columns == list(first_object(files[2]))


@pytest.mark.slow
def test_a_file_for_spreadsheets_has_apostrophes_and_a_byte_order_mark_and_comes_back_as_it_was(database: Path) -> None:
    out = database.with_name("back.csv")
    given = ["=1", "'=1", "''@x", "-\n", "'quoted'", "plain", "\t"]
    frame = pl.LazyFrame({"answer": given, "n": [-1] * len(given)})
    safe = safe_for_spreadsheets(frame).collect()
    assert not any(text.startswith(tuple("=+-@\t\r\n")) for text in safe["answer"])
    assert [as_given(row)["answer"] for row in safe.iter_rows(named=True)] == given
    export_trials(database, out=out, spreadsheet_safe=True)
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")
    written = {"Pleasant", '\'=HYPERLINK("http://x")', "'@me", '\'-1\nand "more"', ""}
    assert set(pl.read_csv(out)["answer"].fill_null("")) == written
    plain = database.with_name("plain.csv")
    export_trials(database, out=plain)
    assert [row.cells for row in table(out).rows()] == [row.cells for row in table(plain).rows()]  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_times_in_text_say_that_they_are_utc(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"times.{ending}"
    collect(tmp_path / "a.duckdb", write_choice(tmp_path), simulated=True)
    export_trials(tmp_path / "a.duckdb", out=out, view="trials")
    table = pl.read_csv(out, infer_schema=False) if ending == "csv" else pl.read_ndjson(out)
    times = table["done_at"].drop_nulls()
    assert len(times)
    assert times.str.contains(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$").all()


def test_a_file_is_replaced_only_on_request(database: Path) -> None:
    out = database.with_name("trials.csv")
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="To replace it: --overwrite"):
        export_trials(database, out=out)
    assert out.read_text(encoding="utf-8") == "mine"
    export_trials(database, out=out, overwrite=True)
    assert out.read_text(encoding="utf-8").startswith("source,")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--view", "refusal_count"], ["--out", "trials.xlsx"], ["--out", "no/such/t.csv"]]
)
def test_what_cannot_be_written_leaves_no_file(
    database: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(database.parent)
    before = sorted(database.parent.iterdir())
    result = run_collect("export", "--db", database, *arguments)
    assert result.exit_code in (1, 2)
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.stderr
    assert sorted(database.parent.iterdir()) == before


def test_stdout_gets_rows_only_and_stderr_says_their_source(database: Path) -> None:
    result = run_collect("export", "--db", database, "--view", "refusal_counts", "--out", "-")
    assert result.stdout.startswith("source,study,study_version,variant,model,test,n_trials,n_refusals")
    assert len(result.stdout.splitlines()) == 2
    assert result.stderr == "1 row of refusal_counts (1 imported) written to stdout.\n"


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_an_export_without_a_word(database: Path, python: list[str], root: Path) -> None:
    command = [*python, "-c", "from slant.collector.cli import collect; collect()", "export", "--db", str(database)]
    process = subprocess.Popen(
        [*command, "--view", "trials", "--format", "jsonl", "--out", "-"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.wait()


@pytest.mark.slow
def test_a_study_leaves_only_its_own_rows(database: Path, tmp_path: Path) -> None:
    asked = collect(database, write_choice(tmp_path), simulated=True).models[0]["asked"]
    file = database.with_name("one.csv")
    assert export_trials(database, "rmiat", file).rows == len(ANSWERS)
    assert "condition_no" in pl.read_csv(file).columns  # the view of its design, though there are two designs here
    assert export_trials(database, None, file, overwrite=True).rows == len(ANSWERS) + asked
    with pytest.raises(UnknownNameError, match='no study "hiring" in this database'):
        export_trials(database, "hiring", file, overwrite=True)


def test_an_unknown_view_or_database_is_named(database: Path) -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "association_trials"'):
        export_trials(database, out=database.with_name("x.csv"), view="association_trial")
    with pytest.raises(DatabaseError, match="There is no database"):
        export_trials(database.with_name("none.duckdb"), out=database.with_name("x.csv"))


def test_prompts_need_a_view_of_trials(database: Path) -> None:
    with pytest.raises(UsageError, match="no column trial_id"):
        export_trials(database, out=database.with_name("versions.csv"), view="run_versions", prompts=True)


def test_a_file_typed_as_the_folder_of_a_lake_is_told_its_option(database: Path) -> None:
    refused = run_collect("export", "answers.csv", "--db", str(database))
    assert "To write one file: collect export --out answers.csv" in refused.output
