"""Games as tidy tables (a row a round, a row a candidate), and how far they are: what will never be asked of those that
ended early is not missing."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

from slant.collector import collect
from slant.collector.keep.export import export_trials, usual_view
from slant.collector.keep.journal import journal_folder
from slant.collector.progress.current_run import sentence, with_pace
from slant.collector.progress.status import progress
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer
from tests.support.stored import rows_in
from tests.support.tiny_game import QUICK, TRIALS, play, player, round_of, write_game

COUNTS = ("test", "n_planned", "n_done", "n_not_asked", "n_answered", "n_refused")
ENDED = [("rounds", 18, 12, 6, 9, 3), ("questions", 6, 0, 6, 0, 0)]  # three games, each refused in round 4


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with LocalServer(player(lambda body: "I can't do this." if round_of(body) >= 4 else "Answer: Ato")) as server:
        play(write_game(tmp_path), server, tmp_path / "a.duckdb")
    return tmp_path / "a.duckdb"


def test_rounds_of_games_that_ended_are_not_missing(db: Path) -> None:
    assert progress(db, "test").select(COUNTS).rows() == ENDED
    assert rows_in(db, "SELECT test, n_missing FROM run_progress") == [("rounds", 0), ("questions", 0)]
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
    shown = run_collect("status", "--db", db)
    assert "n_not_asked" in shown.stdout


def played(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    study, db = write_game(tmp_path, *changes), tmp_path / "a.duckdb"
    assert collect(db, study, ["simulated/greedy"], **QUICK).is_complete
    return db


@pytest.mark.slow
def test_games_without_questions_are_exported_a_row_a_round(tmp_path: Path) -> None:
    db = played(tmp_path, ("questions = true\n", ""))
    assert usual_view(db) == "allocation_rounds"
    export_trials(db, out=tmp_path / "a.csv")
    rounds = pl.read_csv(tmp_path / "a.csv")
    assert rounds.height == 18
    assert rounds["round"].to_list() == [1, 2, 3, 4, 5, 6] * 3
    assert {"job", "class", "choice", "is_success", "points"} <= set(rounds.columns)


@pytest.mark.slow
def test_what_else_was_asked_is_not_left_out_by_itself_and_said(tmp_path: Path) -> None:
    db = played(tmp_path)
    assert usual_view(db) == "trials"
    out = tmp_path / "all.csv"
    said = run_collect("export", "--db", db, "--out", out).stderr
    assert "Games have separate views: --view allocation_rounds, allocation_candidates, allocation_questions" in said
    assert pl.read_csv(out).height == 24


@pytest.mark.slow
def test_candidates_come_in_the_order_of_games_and_one_of_each_round_is_chosen(tmp_path: Path) -> None:
    db, out = played(tmp_path), tmp_path / "c.parquet"
    export_trials(db, out=out, view="allocation_candidates")
    found = pl.read_parquet(out)
    assert found.select("repetition", "round", "group").rows() == [
        (game, number, group) for game in (1, 2, 3) for number in range(1, 7) for group in ("Ato", "Beno")
    ]
    assert found.group_by("trial_id").agg(pl.col("is_chosen").sum())["is_chosen"].to_list() == [1] * 18
