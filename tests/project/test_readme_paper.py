"""The README's Reasoning Model IAT: its answers, as simulated, and the fits.

`make test` puts the answers into the database as the study's design simulates them, which costs a tenth of asking the
server of simulated models; the full suite asks it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.readers_folder import (
    COLLECTED,
    FITTED,
    README,
    check_printed,
    folder_with_rmiat,
    shown_commands,
    typed,
)
from tests.support.stored import rows_in


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with_rmiat(tmp_path_factory.mktemp("readme"))


def answers(db: Path) -> list[tuple[object, ...]]:
    return rows_in(db, "SELECT trial_id, outcome, choice, tokens FROM trials ORDER BY 1")


def test_as_many_are_answered_and_refused_as_the_readme_shows(folder: Path) -> None:
    (line,) = (line for line in dict(shown_commands(README))[COLLECTED].splitlines() if line.startswith(" o3-mini"))
    outcomes = [outcome for _, outcome, *_ in answers(folder / "slant.duckdb")]
    counts = [len(outcomes), outcomes.count("answered"), outcomes.count("refused")]
    assert line.split() == ["o3-mini", *map(str, counts)]


@pytest.mark.slow
def test_the_simulated_model_gives_the_same_answers_when_it_is_asked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_printed(COLLECTED, dict(shown_commands(README))[COLLECTED], tmp_path, monkeypatch)
    assert answers(tmp_path / "slant.duckdb") == answers(folder / "slant.duckdb")


def test_the_fits_print_what_the_readme_shows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Nothing to ask: all 12,920 trials have their answers" in typed(COLLECTED, folder)
    check_printed(FITTED, dict(shown_commands(README))[FITTED], folder, monkeypatch)
