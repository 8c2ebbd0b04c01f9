"""The README's "From your question to a report": a study of one's own, from nothing."""

from __future__ import annotations

from pathlib import Path

from tests.support.readers_folder import README, shell_commands, typed


def test_a_study_of_ones_own_goes_from_nothing_to_a_report(tmp_path: Path) -> None:
    for command in shell_commands(README, "collect studies new"):
        typed(command, tmp_path)
    assert (tmp_path / "drinks.html").stat().st_size > 10_000
