"""Games of many rounds: what is said, what is kept, how they end, and how they go on where they stopped."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.errors import UsageError
from slant.collector.keep.journal import encode, journal_folder
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, completion, error
from tests.support.stored import rows_in
from tests.support.tiny_game import QUICK, TRIALS, factors, is_question, play, player, write_game


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_game(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """The database of a study's three games, and all requests for them."""
    folder = tmp_path_factory.mktemp("games")
    with LocalServer(player()) as server:
        assert play(write_game(folder), server, folder / "a.duckdb").is_complete
    return folder / "a.duckdb", server.bodies


def test_every_round_of_every_game_is_kept_once_with_what_came_of_it(whole: Any) -> None:
    db, bodies = whole
    assert len(bodies) == TRIALS
    assert not any("prompt_cache_key" in body for body in bodies), "a server may not know it"
    assert rows_in(db, "SELECT count(*), count(DISTINCT trial_id), count(DISTINCT game), max(round) FROM trials") == [
        (TRIALS, TRIALS, 3, 6)
    ]
    for facts in factors(db, "test = 'rounds'"):
        assert facts["is_success"] == ("Ato" in facts["would_succeed"])
        assert facts["points"] == facts["is_success"]


def test_a_round_is_told_how_the_one_before_it_ended(whole: Any) -> None:
    db, bodies = whole
    game = max((body["messages"] for body in bodies if not is_question(body)), key=len)
    told = [message["content"].split(":")[0].split(" as ")[0] for message in game[2::2]]
    kept = factors(db, f"test = 'rounds' AND game = '{_game_of(db, game)}'")
    assert [message["role"] for message in game] == ["user", "assistant"] * 5 + ["user"]
    assert told == ["Ato did well" if facts["is_success"] else "Ato failed" for facts in kept[:-1]]


def _game_of(db: Path, messages: list[dict[str, str]]) -> str:
    """The game in which the last round was asked with these messages."""
    for game, request in rows_in(db, "SELECT game, request FROM trials WHERE round = 6"):
        if json.loads(request)["messages"] == messages[-2:]:
            return str(game)
    raise AssertionError("no such game")


def test_only_what_is_new_in_a_round_is_stored(whole: Any) -> None:
    for round_no, request, before in rows_in(
        whole[0],
        "SELECT round, request, lag(prompt_hash) OVER (PARTITION BY game ORDER BY round) FROM trials WHERE round > 0",
    ):
        stored = json.loads(request)
        assert len(stored["messages"]) == (1 if round_no == 1 else 2)
        if round_no > 1:
            assert stored["earlier"] == {"n": 2 * round_no - 3, "hash": before}


def test_questions_after_the_game_do_not_see_each_other(whole: Any) -> None:
    asked = [body["messages"] for body in whole[1] if is_question(body)]
    assert len(asked) == 3 * 2
    assert all(sum("the best" in message["content"] for message in messages) == 1 for messages in asked)
    assert all(len(messages) == 13 for messages in asked)


def test_a_temperature_that_is_rejected_stops_that_model_with_the_reason(tmp_path: Path, db: Path) -> None:
    study = write_game(tmp_path, ("games = 3", "games = 3\ntemperature = 1.5"))

    def answer(body: dict[str, Any]) -> str | web.Response:
        too_high = error(400, "invalid_value", f"temperature: {body['temperature']} is above the maximum of 1")
        return too_high if body["model"] == "small" else "Answer: Ato"

    with LocalServer(player(answer)) as server:
        models = ["local/small", "local/thinker"]
        report = collect(db, str(study), models, base_url=server.base_url, **QUICK)
    small, thinker = report.models
    assert small["asked"] == 0
    assert "1.5 is above the maximum of 1. small was sent the temperature 1.5" in small["stopped_because"]
    assert 'left_out = { "small" = "why" }' in small["stopped_because"]
    assert thinker["answered"] == TRIALS
    assert len([body for body in server.bodies if body["model"] == "small"]) <= 3


@pytest.mark.slow
def test_a_game_that_was_cut_off_anywhere_meets_the_same_future(study: Path, db: Path, tmp_path: Path) -> None:
    kept = "SELECT trial_id, item, choice, factors, prompt_hash FROM trials ORDER BY trial_id"
    with LocalServer(player(by_history)) as server:
        play(study, server, db)
        for seed in range(4):
            cut = tmp_path / f"{seed}.duckdb"
            cut_off(db, cut, random.Random(seed))
            assert play(study, server, cut).is_complete
            assert rows_in(cut, kept) == rows_in(db, kept)
            assert rows_in(cut, "SELECT count(*) FROM attempts") == rows_in(db, "SELECT count(*) FROM attempts")


def by_history(body: dict[str, Any]) -> str:
    """What all that was said decides: any group, and now and then none."""
    chance = random.Random(json.dumps(body["messages"])).random()
    return "Hm." if chance < 0.1 else "Answer: Ato" if chance < 0.6 else "Answer: Beno"


def cut_off(whole: Path, cut: Path, draw: random.Random) -> None:
    """What a kill leaves: the journal up to some byte, and none of it in the database."""
    [journal] = journal_folder(whole).glob("*.jsonl")
    journal_folder(cut).mkdir()
    data = journal.read_bytes()
    first_line = data.index(b"\n") + 1
    (journal_folder(cut) / journal.name).write_bytes(data[: draw.randint(first_line, len(data) - 1)])


@pytest.mark.slow
def test_a_game_goes_on_after_a_reminder_that_was_not_answered(study: Path, db: Path) -> None:
    """Stopped between a reminder and its answer: the reminder is not asked for a second time."""
    turns: list[int] = []

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        turns.append(len(body["messages"]))
        if len(body["messages"]) == 3 and turns.count(3) <= 2 * 3:
            return error(503, "", "overloaded")
        return web.json_response(completion("Hm." if len(body["messages"]) == 1 else "Answer: Ato"))

    with LocalServer(handler) as server:
        assert not play(study, server, db).is_complete
        assert play(study, server, db).is_complete
    assert turns.count(1) == 3
    assert rows_in(db, "SELECT count(*) FROM trials") == [(TRIALS,)]


@pytest.mark.slow
def test_a_game_in_which_another_text_was_sent_is_left_as_it_is(study: Path, db: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.duckdb"
    with LocalServer(player()) as server:
        play(study, server, db)
        cut_off(db, cut, random.Random(2))
        [journal] = journal_folder(cut).glob("*.jsonl")
        lines = [json.loads(line) for line in journal.read_bytes().splitlines()[:-1]]
        other = [line | {"prompt_hash": "0"} if "prompt_hash" in line else line for line in lines]
        journal.write_bytes(b"".join(encode(line) for line in other))
        report = play(study, server, cut)
    assert not report.is_complete
    assert rows_in(cut, "SELECT count(*) = count(DISTINCT (trial_id, turn)) FROM attempts") == [(True,)]


@pytest.mark.parametrize("how", ["--yes", "--dry-run"])
def test_a_game_can_not_be_a_batch(study: Path, db: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-000000")
    words = ["--study", str(study), "--model", "openai/gpt-x", "--batch", how, "--db", str(db)]
    result = run_collect(*words, code=2)
    assert "$" not in result.output
    assert "A game can't be a batch job" in result.output
    assert not db.exists()


def test_another_format_of_answers_is_a_variant_of_its_own(study: Path, db: Path) -> None:
    cot = load_study(study, "base.cot")
    assert (cot.variant, cot.frame) == ("base.cot", "cot")
    with LocalServer(player(lambda body: "Beno was better, I think.\nAnswer: Ato")) as server:
        assert collect(db, cot, ["local/small"], variant="base.cot", base_url=server.base_url, **QUICK).is_complete
    assert rows_in(db, "SELECT DISTINCT variant, choice FROM trials") == [("base.cot", "Ato")]
    assert "Think first." in server.bodies[0]["messages"][-1]["content"]
    assert cot.left_out == {"thinker": "it has its own format of answers"}


@pytest.mark.slow
def test_a_game_with_elicited_rates_waits_for_them_and_plays_by_them(db: Path) -> None:
    quick = ["simulated/greedy"]
    with pytest.raises(UsageError, match="collect --study hiring --variant elicited_rates --model simulated/greedy"):
        collect(db, "hiring", quick, variant="success_elicited", **QUICK)
    collect(db, "hiring", quick, variant="elicited_rates", **QUICK)
    report = collect(db, "hiring", quick, variant="success_elicited", **QUICK, pilot=40)
    assert report.is_complete
    said = dict(rows_in(db, "SELECT job, mean_rate FROM elicited_rates"))
    played = rows_in(db, "SELECT item, factors FROM trials WHERE variant = 'success_elicited'")
    assert len(played) >= 40
    assert all(json.loads(facts)["p_by_group"] == [said[job]] * 4 for job, facts in played)
