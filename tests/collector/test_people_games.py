"""Games of people: bandits of one class come in round by round, and rounds of two players as rows for fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.collector import collect, import_trials
from slant.collector.errors import UsageError
from slant.collector.importing.writer import ImportReport
from tests.support.stored import rows_in

SAID = {"layout": "people", "consent": "informed", "origin": "a test"}
VALUES = ("answer:1=Elm", "answer:2=Oak", "answer:3=Pine", "answer:4=Ash")
BANDIT = """
name = "villages"
title = "Whom to send for"
design = "allocation"
games = 1
rounds = {rounds}
groups = ["Elm", "Oak", "Pine", "Ash"]
success = 0.9
classes = [{{ class = "help", jobs = ["helper"] }}]
models = [{{ model = "gpt-6-luna", provider = "openai" }}]
[prompt]
preamble = "You choose {{rounds}} times among {{groups}}. {{classes}}"
round = "Round {{round}}: {{candidates}} offer to be {{job}}. Whom do you choose?"
outcome_success = "{{group}} went well."
outcome_failure = "{{group}} went badly."
reminder = "Name one of {{groups_and}}."
[prompt.answers.direct]
addon = "Answer: [village]"
marker = "Answer:"
"""


def import_games(folder: Path, rows: pl.DataFrame, rounds: int, **more: object) -> ImportReport:
    rows.write_csv(folder / "rows.csv")
    (folder / "study.toml").write_text(BANDIT.format(rounds=rounds))
    named: dict[str, Any] = {"columns": ["answer=choice", "is_success=reward"], "map_values": VALUES, **SAID, **more}
    return import_trials(folder / "t.duckdb", str(folder / "study.toml"), [folder / "rows.csv"], **named)


def rows_of(folder: Path, query: str) -> list[tuple[object, ...]]:
    return rows_in(folder / "t.duckdb", query)


def game(person: str, choices: list[int], rewards: list[int]) -> pl.DataFrame:
    rounds = range(1, len(choices) + 1)
    return pl.DataFrame({"person": [person] * len(choices), "round": rounds, "choice": choices, "reward": rewards})


@pytest.mark.slow
def test_a_game_of_a_person_knows_what_was_tried_before(tmp_path: Path) -> None:
    import_games(tmp_path, game("ann", [1, 1, 2], [1, 0, 1]), 3)
    query = """SELECT tries_before, successes_before FROM allocation_candidates
               WHERE round = 3 AND participant = 1 ORDER BY group_no"""
    assert rows_of(tmp_path, query) == [(2, 1), (0, 0), (0, 0), (0, 0)]
    assert rows_of(tmp_path, "SELECT is_complete, n_successes FROM allocation_games") == [(True, 2)]
    assert rows_of(tmp_path, "SELECT DISTINCT p_success FROM allocation_candidates") == [(0.9,)]  # the study's


def test_half_a_game_is_a_sentence_and_the_others_are_taken(tmp_path: Path) -> None:
    halved = game("ann", [1, 1, 2], [1, 0, 1]).filter(pl.col("round") != 2)
    report = import_games(tmp_path, pl.concat([halved, game("bob", [1, 2, 3], [1, 1, 1])]), 3)
    [problem] = report.problems
    assert problem.text == "is of a game with 2 of 3 rounds, of which round 2 is missing: none of it was taken"
    assert rows_of(tmp_path, "SELECT DISTINCT participant, source FROM trials") == [(2, "human")]


def test_a_game_that_was_broken_off_is_told(tmp_path: Path) -> None:
    report = import_games(tmp_path, game("ann", [1, 1], [1, 0]), 3)
    assert "1 game ends before round 3: taken as games that were broken off" in report.warnings
    assert rows_of(tmp_path, "SELECT is_complete FROM allocation_games") == [(False,)]


def test_rounds_counted_from_0_and_successes_in_words_are_games_like_any_other(tmp_path: Path) -> None:
    rows = game("ann", [1, 1, 2], [1, 0, 1]).with_columns(
        round=pl.col("round") - 1, reward=pl.col("reward").replace_strict({1: "won", 0: "lost"})
    )
    assert import_games(tmp_path, rows, 3).problems == []
    query = "SELECT round, is_success FROM allocation_rounds ORDER BY round"
    assert rows_of(tmp_path, query) == [(1, True), (2, False), (3, True)]


def test_rewards_on_another_scale_are_refused_with_what_to_do_and_come_in_so(tmp_path: Path) -> None:
    points = game("ann", [1, 1, 2], [10, -5, 10])
    [problem] = import_games(tmp_path, points, 3).problems
    assert "say of each which it is (--map-value is_success:10=1 --map-value is_success:-5=0)" in problem.text
    said = (*VALUES, "is_success:10=1", "is_success:-5=0")
    assert import_games(tmp_path, points, 3, map_values=said).problems == []
    assert rows_of(tmp_path, "SELECT is_success FROM allocation_rounds ORDER BY round") == [(True,), (False,), (True,)]


@pytest.mark.slow
def test_the_people_of_a_published_bandit_come_in(shared: Path, tmp_path: Path) -> None:
    file = shared / "data" / "allocation_people" / "choices.csv"
    if not file.exists():
        pytest.skip(f"{file} is not here")
    report = import_games(tmp_path, pl.read_csv(file), 40, person=["rewards", "prior"])
    assert (report.people, report.rows_imported, report.problems) == (221, 8840, [])
    met = "SELECT count(*), count(*) FILTER (is_complete) FROM allocation_games WHERE source = 'human'"
    assert rows_of(tmp_path, met) == [(221, 221)]
    rates = """SELECT round(avg(is_success::INTEGER), 3)
               FROM allocation_rounds JOIN participants USING (study, participant)
               WHERE map_extract(attributes, 'rewards')[1] = 'different'
               GROUP BY choice ORDER BY list_position(['Elm', 'Oak', 'Pine', 'Ash'], choice)"""
    assert rows_of(tmp_path, rates) == [(0.306,), (0.506,), (0.892,), (0.111,)]


GAMES = """
name = "contests"
title = "Scores by opponent"
design = "observed"
games = ["PD", "BoS"]
actions = ["0", "1"]
columns = { score = "number", opponent = ["Base", "Prompted"] }
[fits.score]
engine = "lme4"
view = "observed_rounds"
by = ["model", "test"]
formula = "score ~ opponent + (1 | participant)"
"""


def import_rounds(folder: Path, file: Path) -> ImportReport:
    (folder / "study.toml").write_text(GAMES)
    return import_trials(folder / "t.duckdb", str(folder / "study.toml"), [file], columns=["participant=id"], **SAID)


@pytest.mark.slow
def test_rounds_of_two_players_give_the_printed_mixed_models(shared: Path, tmp_path: Path) -> None:
    file = shared / "data" / "repeated_games" / "people.csv"
    if not file.exists():
        pytest.skip(f"{file} is not here")
    assert import_rounds(tmp_path, file).people == 195
    fitted = analysis.fit(tmp_path / "t.duckdb", str(tmp_path / "study.toml"), "lme4").table
    slopes = fitted.filter(term="opponentPrompted").rows_by_key("test", named=True, unique=True)
    bos, pd = slopes["BoS"], slopes["PD"]
    assert (round(bos["estimate"], 4), round(bos["std_error"], 4), round(bos["df"])) == (0.7363, 0.2113, 193)
    assert (round(pd["estimate"], 5), round(pd["std_error"], 5), round(pd["p_value"], 3)) == (0.09786, 0.20851, 0.639)


def test_a_study_of_observed_games_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(GAMES)
    with pytest.raises(UsageError, match="asks nobody: its rows come from files"):
        collect(tmp_path / "t.duckdb", str(tmp_path / "study.toml"), ["openai/gpt-6-luna"])


def test_a_level_that_the_study_does_not_have_is_told(tmp_path: Path) -> None:
    rows = "id,game,action,score,opponent\n1,PD,0,5,Base\n2,PD,0,5,a friend of mine\n"
    (tmp_path / "rows.csv").write_text(rows)
    [problem] = import_rounds(tmp_path, tmp_path / "rows.csv").problems
    assert problem.text == 'has "a friend of mine" as opponent, which is not one of the study\'s levels'
