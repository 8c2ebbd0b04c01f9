"""`collect --study hiring` from the shell, as a new user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from slant.collector.cli import collect as command


@pytest.mark.slow
def test_thirty_games_of_a_participant_end_with_what_to_type_next(tmp_path: Path) -> None:
    db = str(tmp_path / "h.duckdb")
    arguments = ["--study", "hiring", "--model", "simulated/thompson", "--db", db, "--format", "csv"]
    asked = CliRunner().invoke(command, arguments)
    assert asked.exit_code == 0, asked.output
    assert asked.stdout.splitlines()[1].startswith("thompson,1200,0,1200,1200,")
    assert f"Next: analyze tables --study hiring --db {db}" in asked.stderr
    assert "Coverage" not in asked.stderr  # there are no two options of which one would be the consistent one


def test_rows_that_say_of_no_game_which_it_is_are_refused_and_the_sentence_says_what_lacks(tmp_path: Path) -> None:
    file = tmp_path / "rounds.csv"
    file.write_text("model,test,condition,item,group,wording,answer\ngpt-4o,rounds,a,b,c,1,d\n", "utf-8")
    db = tmp_path / "h.duckdb"
    refused = CliRunner().invoke(command, ["import", "--study", "hiring", "--db", str(db), str(file)])
    assert refused.exit_code == 2, refused.output
    assert "it lacks the columns game, round" in refused.output
    assert not db.exists()
