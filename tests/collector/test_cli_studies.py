"""`collect studies` as a person types it; what a command says to type next: the study's own first fit, the nearest
names, the key that was meant."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slant.collector.commands.studies import studies
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.studies.catalogue import load_study, next_command
from tests.support.commands import run_collect
from tests.support.tiny_audit import STUDY, write_audit
from tests.support.tiny_study import write_tiny


def run(*arguments: str) -> Result:
    return CliRunner().invoke(studies, list(arguments), prog_name="collect studies")


def test_studies_are_listed_one_a_row() -> None:
    result = run("--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert result.exit_code == 0
    assert ("rmiat", "12920") in [(row["study"], row["trials_a_model"]) for row in rows]
    assert "rmiat" in run().stdout


def test_a_study_shows_its_tests_models_variants_and_fits() -> None:
    result = run("rmiat")
    assert result.exit_code == 0
    for part in ("flowers_insects", "claude-3-7-sonnet-20250219", "balanced", "tokens ~ condition + (1 | wording)"):
        assert part in result.stdout
    assert "12,920 trials a model." in result.stderr


def test_a_pipe_gets_the_rows_of_one_part() -> None:
    result = run("rmiat", "--show", "models", "--format", "json")
    assert [row["model"] for row in json.loads(result.stdout)][:2] == ["o3-mini", "deepseek-r1"]
    assert json.loads(run("--format", "json", "rmiat").stdout)[0]["trials"] == 2000


def test_a_misspelt_study_names_the_nearest_and_exits_2() -> None:
    result = run("rmait")
    assert result.exit_code == 2
    assert 'There is no study "rmait". Did you mean "rmiat"?' in result.stderr
    assert result.stdout == ""


def test_a_study_of_ones_own_is_checked(tmp_path: Path) -> None:
    result = run("validate", str(write_tiny(tmp_path)))
    assert result.exit_code == 0
    assert result.stderr.startswith("ok: 8 trials a model\n")


def test_a_study_with_a_mistake_is_told_in_one_sentence_and_exits_2(tmp_path: Path) -> None:
    result = run("validate", str(write_tiny(tmp_path, study=("title", "titel"))))
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: study.toml needs the key")
    assert "Traceback" not in result.output


def test_a_folder_without_a_study_file_is_no_study(tmp_path: Path) -> None:
    result = run("validate", str(tmp_path))
    assert result.exit_code == 2
    assert "holds no study.toml" in result.stderr


def test_help_gives_an_example() -> None:
    for arguments in (["--help"], ["rmiat", "--help"], ["validate", "--help"]):
        assert "Example" in run(*arguments).stdout


def test_next_is_the_effects_of_a_factorial_study_the_first_fit_of_a_file_or_the_tables(tmp_path: Path) -> None:
    named = {name: next_command(load_study(name), Path("a.duckdb")) for name in ("rmiat", "hiring")}
    assert named == {
        "rmiat": "analyze --fit lme4 --db a.duckdb",
        "hiring": "analyze tables --study hiring --db a.duckdb",
    }
    audit = load_study(write_audit(tmp_path))
    assert next_command(audit, tmp_path / "b c.duckdb").startswith("analyze --fit amce --db '")


@pytest.mark.parametrize("written", ["qestions", "question", "Questions"])
def test_a_misspelled_table_of_questions_is_named(written: str, tmp_path: Path) -> None:
    file = write_audit(tmp_path)
    file.write_text(STUDY.replace("questions", written), "utf-8")
    with pytest.raises(StudyError, match=f'There is no key "{written}" in .* Did you mean "questions"'):
        load_study(file)


def test_of_many_names_the_five_nearest_are_said() -> None:
    many = [f"table_{number}" for number in range(184)]
    assert str(UnknownNameError("table", "xyzzy", many)).count(",") == 4
    assert str(UnknownNameError("table", "xyzzy", many[:3])).count("table_") == 3


def test_a_study_file_here_is_found_by_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_audit(tmp_path).rename(tmp_path / "flat.toml")
    monkeypatch.chdir(tmp_path)
    assert load_study("flat").path == tmp_path / "flat.toml"


@pytest.mark.slow
def test_a_program_gets_rows_also_when_nothing_is_left_to_ask(tmp_path: Path) -> None:
    words = ["--study", str(write_audit(tmp_path)), "--simulated", "--db", str(tmp_path / "a.duckdb")]
    first, again = (run_collect(*words, "--format", "json") for _ in range(2))
    assert "Nothing to ask" in again.stderr
    (before,), (after,) = json.loads(first.stdout), json.loads(again.stdout)
    assert (after["asked"], after["already_done"]) == (0, before["planned"])
