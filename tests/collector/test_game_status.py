"""How far games are: what will never be asked of those that ended early is not missing."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from slant.collector.cli import collect as command
from slant.collector.keep.journal import journal_folder
from slant.collector.progress.current_run import sentence, with_pace
from slant.collector.progress.status import progress
from tests.support.local_server import LocalServer
from tests.support.tiny_game import TRIALS, play, player, round_of, rows, write_game

COUNTS = ("test", "n_planned", "n_done", "n_not_asked", "n_answered", "n_refused")
ENDED = [("rounds", 18, 12, 6, 9, 3), ("questions", 6, 0, 6, 0, 0)]  # three games, each refused in round 4


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with LocalServer(player(lambda body: "I can't do this." if round_of(body) >= 4 else "Answer: Ato")) as server:
        play(write_game(tmp_path), server, tmp_path / "a.duckdb")
    return tmp_path / "a.duckdb"


def test_rounds_of_games_that_ended_are_not_missing(db: Path) -> None:
    assert progress(db, "test").select(COUNTS).rows() == ENDED
    assert rows(db, "SELECT test, n_missing FROM run_progress") == [("rounds", 0), ("questions", 0)]
    (row,) = with_pace(progress(db), db).to_dicts()
    assert (row["n_planned"], row["n_done"] + row["n_not_asked"]) == (TRIALS, TRIALS)
    assert "12 of 24; 12 never to be asked, of games that ended" in sentence(row)


def test_the_same_is_counted_from_the_journal(db: Path) -> None:
    with duckdb.connect(str(db)) as connection:  # as if nothing but the start of the run had been loaded
        (path,) = journal_folder(db).glob("*.jsonl")
        connection.execute("DELETE FROM attempts")
        connection.execute("UPDATE loads SET byte_offset = ?", [path.read_bytes().index(b"\n") + 1])
    assert progress(db, "test").select(COUNTS).rows() == ENDED


@pytest.mark.slow
def test_status_shows_them_where_there_are_any(db: Path) -> None:
    shown = CliRunner().invoke(command, ["status", "--db", str(db)])
    assert "n_not_asked" in shown.stdout
