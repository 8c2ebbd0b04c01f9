"""Games as tidy tables: a row a round, a row a candidate."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from slant.collector import collect
from slant.collector.cli import collect as command
from slant.collector.keep.export import export_trials, usual_view
from tests.support.tiny_game import QUICK, write_game


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
    said = CliRunner().invoke(command, ["export", "--db", str(db), "--out", str(out)]).stderr
    assert (
        "Games have views of their own: --view allocation_rounds, allocation_candidates, allocation_questions" in said
    )
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
