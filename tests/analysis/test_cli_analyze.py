"""`analyze` on the command line: rows to stdout, all else to stderr, and mistakes without tracebacks."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner, Result

from slant.analysis.cli import main as cli
from tests.support.each_row import each_row
from tests.support.fitted import RUN, small_database, trials
from tests.support.given import database

COMMANDS = ("check", "compare", "differences", "doctor", "indices", "report", "sensitivity", "tables")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("cli") / "a.duckdb")


def typed(root: Path, *arguments: object, name: str = "analyze") -> subprocess.CompletedProcess[str]:
    """In a process of its own, as a person would."""
    code = f"from slant.analysis.cli.main import {name}; {name}(prog_name='{name}')"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def analyze(*arguments: object, command: Command = cli.analyze) -> Result:
    """In this process, whose R is there already. Whatever is no error of ours would be a traceback."""
    answer = CliRunner().invoke(command, [*map(str, arguments)])
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.output
    return answer


@pytest.mark.slow
def test_a_fit_prints_estimates_to_stdout_and_the_rest_to_stderr(root: Path, db: Path) -> None:
    answer = typed(root, "--fit", "lme4", "--db", db, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    assert [row["term"] for row in rows] == ["intercept", "conditionincompatible"] * 2
    assert {row["source"] for row in rows} == {"simulated"}
    assert "2 fits: " in answer.stderr


def test_diagnostics_are_rows_too(db: Path) -> None:
    answer = analyze("--fit", "lme4", "--db", db, "--show", "diagnostics", "--format", "json")
    assert [row["n"] for row in json.loads(answer.stdout)] == [76, 76]


@pytest.mark.slow
def test_an_unknown_fit_is_exit_2_and_names_the_nearest(root: Path, db: Path) -> None:
    answer = typed(root, "--fit", "lme5", "--db", db)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert 'Did you mean "lme4"?' in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_missing_or_foreign_database_is_exit_1_and_one_sentence(tmp_path: Path) -> None:
    text = tmp_path / "notes.duckdb"
    text.write_text("not a database\n" * 100)
    for db, sentence in ((tmp_path / "none.duckdb", "There is no database"), (text, "is not a DuckDB database")):
        answer = analyze("--fit", "lme4", "--db", db)
        assert (answer.exit_code, answer.stdout) == (1, "")
        assert sentence in answer.stderr


@pytest.mark.slow
def test_compare_prints_one_line_a_table_or_one_a_number_beside_the_measure_of_each_model(db: Path) -> None:
    short = analyze("compare", "--study", "rmiat", "--summary", "--db", db, "--format", "csv")
    tables = [*(f"S{no}" for no in range(3, 15)), "text", *(f"v1 S{no}" for no in range(3, 8))]
    assert [line.split(",")[3] for line in short.stdout.splitlines()[1:]] == tables
    assert "Tokens (simulated) are, for o3-mini: reasoning tokens (usage); deepseek-r1: reasoning" in short.stderr
    whole = analyze("compare", "--db", db, "--format", "json")
    assert len(json.loads(whole.stdout)) == 1338
    assert "1,338 numbers: " in whole.stderr


@pytest.mark.slow
def test_compare_shows_only_the_tables_and_standings_that_are_asked_for(db: Path) -> None:
    command = ("compare", "--table", "text", "--table", "S11", "--status", "not-checkable", "--db", db)
    (head, *rows) = csv.reader(analyze(*command, "--format", "csv").stdout.splitlines())
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert {row["table"] for row in found} == {"text", "S11"}
    assert {row["status"] for row in found} == {"not checkable"}
    assert all(row["note"] for row in found)
    assert 'Did you mean "text"?' in analyze("compare", "--table", "texts", "--db", db).stderr


@pytest.mark.slow
def test_mixed_trials_are_said_on_stderr_by_every_command(tmp_path: Path) -> None:
    rows = [{**row, "token_source": "output" if n % 2 else "usage"} for n, row in enumerate(trials())]
    db = database(tmp_path / "a.duckdb", rows, [RUN])
    said = "Mixed: o3-mini (simulated) has token counts of 2 kinds (output + usage)."
    compared = analyze("compare", "--summary", "--table", "S5", "--db", db).stderr
    assert said in compared
    assert "Tokens (simulated) are, for o3-mini: reasoning tokens (usage)" not in compared
    assert said in analyze("tables", "refusal_counts", "--db", db).stderr
    fitted = analyze("--fit", "effect_size", "--db", db).stderr
    assert "2 fits: 2 warned." in fitted
    assert (
        fitted.count("Caution: effect_size, all 2 cells, such as o3-mini, flowers_insects: Token counts of 2 kinds")
        == 1
    )


def test_the_version_is_said_whether_or_not_slant_is_installed(root: Path) -> None:
    assert typed(root, "--version", name="slant").stdout.startswith("slant, ")


def test_tables_need_no_r_and_csv_wants_one_name(db: Path) -> None:
    one = analyze("tables", "refusal_counts", "--db", db, "--format", "csv")
    assert len(one.stdout.splitlines()) == 3
    assert analyze("tables", "--db", db, "--format", "csv").exit_code == 2
    assert "Table S5" in analyze("tables", "--db", db).stdout
    assert "refusal_counts" in analyze("tables", "--list").stdout


@pytest.mark.slow
def test_the_report_prints_its_path_and_nothing_else(db: Path, tmp_path: Path) -> None:
    answer = analyze("report", "--db", db, "--out", tmp_path / "r.html")
    assert answer.stdout.strip() == str((tmp_path / "r.html").resolve())


def test_doctor_says_what_is_here(db: Path) -> None:
    answer = analyze("doctor", "--db", db, "--format", "json")
    assert "Python" in [row["name"] for row in json.loads(answer.stdout)]


@each_row("command", [(), *((name,) for name in COMMANDS)])
def test_every_help_has_an_example(command: tuple[str, ...]) -> None:
    answer = analyze(*command, "--help")
    assert "Example" in answer.stdout


def test_slant_is_both_commands_under_one_name() -> None:
    assert "analyze" in analyze("--help", command=cli.slant).stdout
    assert "compare" in analyze("analyze", "--help", command=cli.slant).stdout
    assert "import" in analyze("collect", "--help", command=cli.slant).stdout


def test_a_study_that_the_database_has_nothing_of_is_told_beside_those_it_has(db: Path) -> None:
    answer = analyze("--fit", "lme4", "--study", "interference", "--db", db)
    assert answer.exit_code != 0
    assert "It holds: rmiat." in answer.stderr
