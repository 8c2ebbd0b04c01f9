"""`analyze indices` and `analyze differences` on the command line, of a game of one's own that participants played."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from slant import collector
from tests.analysis.test_cli_analyze import analyze
from tests.support.tiny_game import QUICK, write_game

FEW = ("--n-boot", 20, "--n-random", 5)


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_game(tmp_path_factory.mktemp("games"))


@pytest.fixture(scope="module")
def db(game: Path) -> Path:
    path = game.parent / "a.duckdb"
    collector.collect(path, game, ["simulated/greedy", "simulated/random"], **QUICK)
    return path


@pytest.mark.slow
def test_rows_of_a_game_of_one_s_own_go_to_stdout_and_the_rest_to_stderr(game: Path, db: Path) -> None:
    first = analyze("tables", "allocation_indices", "--db", db, "--format", "csv")
    assert "has not been simulated yet for 2 cells of posts" in first.stderr
    assert f"analyze indices --study posts --db {db}" in first.stderr
    answer = analyze("indices", "--study", game, "--db", db, *FEW, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    assert [(row["model"], row["index"]) for row in rows[::6]] == [("greedy", "si"), ("random", "si")]
    assert {(row["source"], row["study"], row["n_games"]) for row in rows} == {("simulated", "posts", "3")}
    assert "2 cells: 2 computed now, 0 stored earlier." in answer.stderr
    again = analyze("tables", "allocation_indices", "--db", db, "--format", "csv")
    assert "simulated yet" not in again.stderr


@pytest.mark.slow
def test_models_are_compared_and_p_is_said_to_be_corrected(db: Path) -> None:
    asked = ("--study", "posts", "--between", "model", "--reference", "random", "--n-draws", 20, "--db", db)
    answer = analyze("differences", *asked, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    assert [(row["condition"], row["reference"], row["index"]) for row in rows] == [
        ("greedy", "random", index) for index in ("si", "bgd", "gasi")
    ]
    assert "p is corrected (holm)" in answer.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("differences", "--study", "posts", "--between", "model"), "--reference MODEL"),
        (("indices", "--study", "posts", "--variant", "mian"), 'no variant with complete games of "posts" "mian"'),
        (("indices", "--study", "hiring"), "collect --study hiring --model simulated/greedy"),
    ],
)
def test_mistakes_end_in_a_sentence(db: Path, asked: tuple[str, ...], said: str) -> None:
    answer = analyze(*asked, "--db", db)
    assert (answer.exit_code, answer.stdout) in [(1, ""), (2, "")]
    assert said in answer.stderr
