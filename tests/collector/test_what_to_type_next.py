"""What a command says to type next: the study's own first fit, the nearest names, the key that was meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from slant.collector.cli import collect as command
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.studies.catalogue import load_study, next_command
from tests.support.tiny_audit import STUDY, write_audit


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
    first, again = (CliRunner().invoke(command, [*words, "--format", "json"]) for _ in range(2))
    assert "Nothing to ask" in again.stderr
    (before,), (after,) = json.loads(first.stdout), json.loads(again.stdout)
    assert (after["asked"], after["already_done"]) == (0, before["planned"])
