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


def test_each_rating_is_asked_on_the_finished_game_and_sees_no_other(study: Path, db: Path) -> None:
    with LocalServer(player(lambda body: "Answer: 4" if is_rating(body) else "Answer: Ato")) as server:
        assert play(study, server, db).is_complete
    asked = [body["messages"] for body in server.bodies if is_rating(body)]
    assert len(asked) == 3 * 2
    assert {len(messages) for messages in asked} == {13}
    assert all("the best" not in str(messages) and str(messages).count("how skilled") == 1 for messages in asked)
    query = 'SELECT rating, "group", value, lowest, highest, count(*) FROM allocation_ratings GROUP BY ALL ORDER BY ALL'
    assert rows_in(db, query) == [("skill", group, 4.0, 1, 5, 3) for group in ("Ato", "Beno")]


def test_a_rating_off_its_scale_is_asked_again_and_a_model_that_will_not_rate_has_played(study: Path, db: Path) -> None:
    def answer(body: dict[str, Any]) -> str:
        asked, said = str(body["messages"]).rpartition("how skilled is ")[2], body["messages"][-1]["content"]
        of_beno = "I can't rate people." if "one number from 1 to 5" in said or is_rating(body) else "Answer: Ato"
        of_ato = "Answer: 5" if "one number from 1 to 5" in said else "Answer: 9" if is_rating(body) else "Answer: Ato"
        return of_beno if asked.startswith("Beno") else of_ato

    with LocalServer(player(answer)) as server:
        assert play(study, server, db).is_complete
    query = "SELECT turn, outcome, choice, count(*) FROM attempts WHERE item = 'Ato' GROUP BY ALL ORDER BY turn"
    assert rows_in(db, query) == [(1, "malformed", None, 3), (2, "answered", "5", 3)]
    assert rows_in(db, "SELECT bool_and(is_complete) FROM allocation_games") == [(True,)]
    query = 'SELECT "group", mean_rating, n, n_without FROM allocation_rating_means ORDER BY ALL'
    assert rows_in(db, query) == [("Ato", 5.0, 3, 0), ("Beno", None, 0, 3)]


@given(st.integers(0, 30))
def test_a_rating_is_read_where_it_lies_on_the_scale_and_nowhere_else(number: int) -> None:
    design, model = design_named("allocation"), HIRING.model("gpt-4o")
    trial = next(plan(HIRING, model)).trials[-1]
    step = {"reminders": 2, **trial.factors}
    reading = design.reads.read(HIRING, replace(trial, factors=step), Reply(answer=f"Answer: {number}"))
    wanted = ("answered", str(number)) if 1 <= number <= 7 else ("malformed", None)
    assert (reading.outcome, reading.choice) == wanted
    assert "n_not_asked" not in reading.factors  # the other ratings stand on their own


def test_all_variants_are_asked_one_after_the_other_but_an_extension_by_its_name_alone(
    tmp_path: Path, db: Path
) -> None:
    assert HIRING.is_extension
    variants = f'[variants.short]\nrounds = 2\nabout = "two rounds"\n[variants.rated]\nextension = true\n{RATINGS}'
    words = ["--study", write_game(tmp_path, ("[prompt]", f"{variants}\n[prompt]")), "--model", "simulated/greedy"]
    words += ["--db", db, "--format", "csv", "--dry-run", "--variant"]
    of_all, of_one = (run_collect(*words, variant) for variant in ("all", "rated"))
    assert of_all.exit_code == 0
    assert "short: two rounds" in of_all.output
    assert "rated is skipped: it is an extension" in of_all.output
    lines = [*of_all.stdout.splitlines(), *of_one.stdout.splitlines()]
    planned = [int(line.split(",")[3]) for line in lines if line.startswith("greedy")]
    assert planned == [3 * (6 + 2), 3 * (2 + 2), 3 * (6 + 2 + 2)]


@pytest.mark.slow
def test_a_participant_rates_by_what_came_of_its_hires(study: Path, db: Path) -> None:
    assert collect(db, study, ["simulated/greedy"], **QUICK).is_complete
    hires = (
        'SELECT game, "group", n_hires, n_successes FROM allocation_ratings EXCEPT SELECT game, "group", '
        "count(*) FILTER (is_chosen), count(*) FILTER (is_chosen AND would_succeed) "
        "FROM allocation_candidates GROUP BY ALL"
    )
    assert rows_in(db, hires) == []
    off = "SELECT max(abs(value - (1 + 4 * (1 + n_successes) / (2 + n_hires)))) <= 0.5 FROM allocation_ratings"
    assert rows_in(db, off) == [(True,)]
