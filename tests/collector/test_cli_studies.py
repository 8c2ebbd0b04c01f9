"""`collect studies` as a person types it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from click.testing import CliRunner, Result

from slant.collector.commands.studies import studies
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
