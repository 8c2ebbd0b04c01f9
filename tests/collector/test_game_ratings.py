"""Ratings of the groups after a game: an extension, each asked on the same finished conversation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect
from slant.collector.designs import design_named
from slant.collector.errors import StudyError
from slant.collector.plan.conversations import plan
from slant.collector.records import Reply
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer
from tests.support.stored import rows_in
from tests.support.tiny_game import QUICK, play, player, write_game

RATINGS = 'ratings = [{ rating = "skill", question = "From {low} to {high}, how skilled is {group}?", high = 5 }]\n'
WITH_RATINGS = ("success = 0.5\n", f"success = 0.5\n{RATINGS}")
HIRING = load_study("hiring", "ratings")


def is_rating(body: dict[str, Any]) -> bool:
    return "how skilled" in body["messages"][-1]["content"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_game(tmp_path, WITH_RATINGS)


def test_each_rating_is_asked_on_the_finished_game_and_sees_no_other(study: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer(player(lambda body: "Answer: 4" if is_rating(body) else "Answer: Ato")) as server:
        assert play(study, server, db).is_complete
    asked = [body["messages"] for body in server.bodies if is_rating(body)]
    assert len(asked) == 3 * 2
    assert {len(messages) for messages in asked} == {13}
    assert all("the best" not in str(messages) and str(messages).count("how skilled") == 1 for messages in asked)
    query = 'SELECT rating, "group", value, lowest, highest, count(*) FROM allocation_ratings GROUP BY ALL ORDER BY ALL'
    assert rows_in(db, query) == [("skill", group, 4.0, 1, 5, 3) for group in ("Ato", "Beno")]


def test_a_rating_off_its_scale_is_asked_again_in_words_of_its_own(study: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"

    def answer(body: dict[str, Any]) -> str:
        is_reminded = "one number from 1 to 5" in body["messages"][-1]["content"]
        return "Answer: 5" if is_reminded else "Answer: 9" if is_rating(body) else "Answer: Ato"

    with LocalServer(player(answer)) as server:
        assert play(study, server, db).is_complete
    query = "SELECT turn, outcome, choice, count(*) FROM attempts WHERE test = 'ratings' GROUP BY ALL ORDER BY turn"
    assert rows_in(db, query) == [(1, "malformed", None, 6), (2, "answered", "5", 6)]


@given(st.integers(0, 30))
def test_a_rating_is_read_where_it_lies_on_the_scale_and_nowhere_else(number: int) -> None:
    design, model = design_named("allocation"), HIRING.model("gpt-4o")
    trial = next(plan(HIRING, model)).trials[-1]
    step = {"reminders": 2, **trial.factors}
    reading = design.reads.read(HIRING, replace(trial, factors=step), Reply(answer=f"Answer: {number}"))
    wanted = ("answered", str(number)) if 1 <= number <= 7 else ("malformed", None)
    assert (reading.outcome, reading.choice) == wanted
    assert "n_not_asked" not in reading.factors  # the other ratings stand on their own


def test_a_model_that_will_not_rate_has_played_its_game_all_the_same(study: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer(player(lambda body: "I can't rate people." if is_rating(body) else "Answer: Ato")) as server:
        assert play(study, server, db).is_complete
    assert rows_in(db, "SELECT bool_and(is_complete) FROM allocation_games") == [(True,)]
    query = 'SELECT "group", mean_rating, n, n_without FROM allocation_rating_means ORDER BY ALL'
    assert rows_in(db, query) == [("Ato", None, 0, 3), ("Beno", None, 0, 3)]


@pytest.mark.slow
def test_the_extension_is_asked_by_its_name_and_not_among_all_conditions(study: Path, tmp_path: Path) -> None:
    assert HIRING.is_extension
    path = write_game(tmp_path, ("[prompt]", f"[variants.rated]\nextension = true\n{RATINGS}\n[prompt]"))
    words = ["--study", str(path), "--model", "simulated/greedy", "--db", str(tmp_path / "a.duckdb"), "--dry-run"]
    everything = run_collect(*words, "--variant", "all")
    assert everything.exit_code == 0
    assert "rated is skipped: it is an extension" in everything.output
    report = collect(tmp_path / "b.duckdb", path, ["simulated/greedy"], variant="rated", **QUICK)
    assert report.models[0]["answered"] == 3 * (6 + 2 + 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("high = 5", "high = 1", "The scale of .* goes from 1 to 1"),
        ("{group}?", "he?", "placeholder {group} is missing"),
        ("high = 5", "hihg = 5", 'Did you mean "high"'),
        ("ratings = [", f"ratings = [{RATINGS[11:-2]}, ", "A rating is given twice"),
    ],
)
def test_a_rating_that_breaks_the_rules_is_refused_in_a_sentence(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        load_study(write_game(tmp_path, WITH_RATINGS, (old, new)))


@pytest.mark.slow
def test_a_participant_rates_by_what_came_of_its_hires(study: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    assert collect(db, study, ["simulated/greedy"], **QUICK).is_complete
    hires = (
        'SELECT game, "group", n_hires, n_successes FROM allocation_ratings EXCEPT SELECT game, "group", '
        "count(*) FILTER (is_chosen), count(*) FILTER (is_chosen AND would_succeed) "
        "FROM allocation_candidates GROUP BY ALL"
    )
    assert rows_in(db, hires) == []
    off = "SELECT max(abs(value - (1 + 4 * (1 + n_successes) / (2 + n_hires)))) <= 0.5 FROM allocation_ratings"
    assert rows_in(db, off) == [(True,)]
